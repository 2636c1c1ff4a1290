// run swap global=128 local=32 args=buffer(i32,256,iota)
// note: each work-item exchanges two elements, one of which lies far away
kernel void swap(global int *data) {
  int i = get_global_id(0);
  int j = 255 - i;
  int value = data[i];
  data[i] = data[j];
  data[j] = value;
}
