// run divide global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the division is inside the test; a vectoriser must not do it for all
kernel void divide(global const int *in, global int *out) {
  int i = get_global_id(0);
  int by = in[i] % 7;
  if (by != 0)
    out[i] = 1000 / by;
}
