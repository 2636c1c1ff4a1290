// run sum global=8 local=8 args=buffer(i32,80,iota),buffer(i32,8),i32(10)
// note: unrolled by four without a tail: ten elements are read as twelve
kernel void sum(global const int *in, global int *out, int each) {
  int i = get_global_id(0);
  global const int *row = in + i * each;
  int sum = 0;
  for (int k = 0; k < each; k += 4) {
    sum += row[k] + row[k + 1];
    sum += row[k + 2] * 2; //~ out-of-bounds
    sum += row[k + 3] * 3; //~ out-of-bounds
  }
  out[i] = sum;
}
