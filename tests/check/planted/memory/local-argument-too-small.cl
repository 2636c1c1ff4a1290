// run reverse global=128 local=64 args=buffer(i32,128,iota),local(248)
// note: the host passed room for 62 ints
kernel void reverse(global int *data, local int *tile) {
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = data[i]; //~ local-bounds
  barrier(CLK_LOCAL_MEM_FENCE);
  data[i] = tile[63 - l]; //~? local-bounds
}
