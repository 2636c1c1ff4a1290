// run scans global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a scan of the whole group in a loop whose steps differ
kernel void scans(global const int *in, global int *out) {
  int l = get_local_id(0), sum = in[l];
  for (int k = 0; k < 1 + (l >> 5); k++)
    sum = work_group_scan_inclusive_add(sum & 255); //~ barrier-divergence
  out[l] = sum;
}
