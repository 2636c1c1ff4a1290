// run prefix global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: a barrier is taken for one of the whole grid
kernel void prefix(global int *data, global int *out) {
  int i = get_global_id(0), n = get_global_size(0);
  data[i] = 2 * data[i]; //~ race-groups
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = data[n - 1 - i]; //~^other
}
