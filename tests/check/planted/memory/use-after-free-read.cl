// run sum global=64 local=64 args=freed(i32,64,iota),buffer(i32,64)
// note: the buffer was freed before the launch. May crash without a checker
kernel void sum(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i] + 1; //~ use-after-free
}
