// run guarded global=128 local=64 args=buffer(i32,100,iota),buffer(i32,100),i32(100)
// note: work-items behind the end do no work, but reach the barrier and the sub-group's sum
kernel void guarded(global const int *in, global int *out, int n) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = sub_group_scan_inclusive_add(tile[63 - l]);
  if (i < n)
    out[i] = sum;
}
