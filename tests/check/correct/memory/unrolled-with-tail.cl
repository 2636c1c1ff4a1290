// run sum global=8 local=8 args=buffer(i32,80,iota),buffer(i32,8),i32(10)
// note: unrolled by four, with a tail
kernel void sum(global const int *in, global int *out, int each) {
  int i = get_global_id(0), k = 0, sum = 0;
  global const int *row = in + i * each;
  for (; k + 4 <= each; k += 4)
    sum += row[k] + row[k + 1] + row[k + 2] + row[k + 3];
  for (; k < each; k++)
    sum += row[k];
  out[i] = sum;
}
