// run twice global=256 local=64 args=buffer(u32,512,iota),buffer(u32,512)
// note: each sub-group writes two rows, but begins only one row behind the one before
uint2 __attribute__((overloadable)) intel_sub_group_block_read2(const global uint *from);
void __attribute__((overloadable)) intel_sub_group_block_write2(global uint *to, uint2 value);

kernel void twice(global const uint *in, global uint *out) {
  size_t first = get_global_id(0) - get_sub_group_local_id();
  uint2 rows = 2 * intel_sub_group_block_read2(in + first);
  intel_sub_group_block_write2(out + first, rows); //~ race-groups|race-work-items
}
