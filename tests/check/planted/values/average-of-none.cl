// run averages global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: an average of no elements: the count is zero where nothing was above the bound. May crash without a checker
kernel void averages(global const int *in, global int *out) {
  int i = get_global_id(0);
  int sum = 0, count = 0;
  for (int k = 0; k < 4; k++) {
    int value = in[(i + k) & 63];
    if (value > 8) {
      sum += value;
      count++;
    }
  }
  out[i] = sum / count; //~ division-by-zero
}
