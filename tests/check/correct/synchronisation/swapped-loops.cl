// run table global=16x4 local=16x4 args=buffer(i32,64,iota),buffer(i32,64)
// note: a loop with a barrier in two dimensions; one row of work-items does the writing
kernel void table(global const int *in, global int *out) {
  local int row[16];
  int x = get_local_id(0), y = get_local_id(1);
  int sum = 0;
  for (int k = 0; k < 4; k++) {
    if (y == k)
      row[x] = in[k * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += row[15 - x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[y * 16 + x] = sum + y;
}
