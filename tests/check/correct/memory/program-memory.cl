// run copy global=64 local=64 args=malloc(i32,64,iota),buffer(i32,64)
// note: memory of malloc: this device shares the system's memory, and says so
kernel void copy(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i];
}
