// run mirror global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: a fence orders, but it does not wait for other groups
kernel void mirror(global int *data, global int *out) {
  int i = get_global_id(0);
  data[i] += 100; //~ race-groups
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  out[i] = data[i ^ 128]; //~^other
}
