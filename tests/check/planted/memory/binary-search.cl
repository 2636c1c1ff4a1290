// run find global=32 local=32 args=buffer(i32,64,iota),buffer(i32,32),i32(64),i32(5)
// note: the upper bound of a binary search is read although it lies behind the array
kernel void find(global const int *sorted, global int *out, int n, int factor) {
  int i = get_global_id(0);
  int key = i * factor;
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = sorted[low] == key; //~ out-of-bounds
}
