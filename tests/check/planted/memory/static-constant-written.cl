// run patch global=4 local=4 args=buffer(i32,8,iota)
// note: nobody outside can find this table, so that it lies in memory that cannot be written. Crashes without a checker
static constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

kernel void patch(global int *out) {
  int i = get_global_id(0);
  volatile global int *entry = (volatile global int *)((ulong)table + 4 * (ulong)out[i]);
  *entry = 7; //~ read-only-write
  out[i + 4] = table[out[i + 4]];
}
