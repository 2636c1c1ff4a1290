// run deref global=8 local=8 args=u64(65536),buffer(i32,8)
// note: an address that nobody allocated. Crashes without a checker
kernel void deref(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i]; //~ invalid-pointer
}
