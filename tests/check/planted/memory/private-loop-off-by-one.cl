// run sort global=32 local=32 args=buffer(i32,256,random),buffer(i32,32),i32(8)
// note: the insertion loop compares with the element behind the last
kernel void sort(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  int keys[8];
  for (int k = 0; k < n; k++)
    keys[k] = in[i * 8 + k];
  int largest = keys[0];
  for (int k = 1; k <= n; k++)
    largest = max(largest, keys[k]); //~ private-bounds
  out[i] = largest;
}
