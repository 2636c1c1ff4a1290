// run reverse global=100 local=50 args=buffer(i32,100,iota),buffer(i32,100),i32(100)
// note: n - i where n - 1 - i was meant
kernel void reverse(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  out[i] = in[n - i]; //~ out-of-bounds
}
