// run sum global=16 local=16 args=buffer(i32,160,iota),buffer(i32,16),i32(10)
// note: the pointer that ends the loop lies one past the end and is not read
kernel void sum(global const int *in, global int *out, int each) {
  int i = get_global_id(0);
  global const int *p = in + i * each;
  global const int *end = p + each;
  int sum = 0;
  while (p != end)
    sum += *p++;
  out[i] = sum;
}
