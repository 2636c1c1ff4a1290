// run find global=32 local=32 args=buffer(i32,64,iota),buffer(i32,32),i32(64)
// note: the upper bound is tested before it is read
kernel void find(global const int *sorted, global int *out, int n) {
  int key = get_global_id(0) * 5;
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[get_global_id(0)] = low < n && sorted[low] == key;
}
