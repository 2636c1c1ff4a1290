// run copy global=64 local=64 args=malloc(i32,64,iota),buffer(i32,64)
// strict
// note: memory of malloc: this processor reads it, a device with its own memory does not
kernel void copy(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i]; //~ invalid-pointer|out-of-bounds
}
