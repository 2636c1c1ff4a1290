// run edges global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: the load is inside the test; a compiler may make masks of it, but no load
kernel void edges(global const int *in, global int *out) {
  int i = get_global_id(0), n = get_global_size(0);
  int left = i > 0 ? in[i - 1] : 0;
  int right = i < n - 1 ? in[i + 1] : 0;
  out[i] = right - left;
}
