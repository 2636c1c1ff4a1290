// run copy global=64 local=64 args=foreign(i32,64,iota),buffer(i32,64)
// note: the buffer was allocated in another context than the kernel's
kernel void copy(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i]; //~ foreign-context
}
