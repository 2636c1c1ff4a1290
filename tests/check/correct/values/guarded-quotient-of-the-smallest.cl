// run divide global=64 local=64 args=buffer(i32,64,-2147483648),buffer(i32,64),i32(-1)
// note: the one quotient that overflows is taken out
kernel void divide(global const int *in, global int *out, int by) {
  int i = get_global_id(0);
  int value = in[i] + (i & 1);
  if (by == 0 || (by == -1 && value == INT_MIN))
    out[i] = INT_MAX;
  else
    out[i] = value / by;
}
