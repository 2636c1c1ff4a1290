// run sort global=32 local=32 args=buffer(i32,256,random),buffer(i32,256)
// note: insertion sort in a private array with indices that depend on the data
kernel void sort(global const int *in, global int *out) {
  int i = get_global_id(0);
  int keys[8];
  for (int k = 0; k < 8; k++) {
    int key = in[i * 8 + k], at = k;
    for (; at > 0 && keys[at - 1] > key; at--)
      keys[at] = keys[at - 1];
    keys[at] = key;
  }
  for (int k = 0; k < 8; k++)
    out[i * 8 + k] = keys[k];
}
