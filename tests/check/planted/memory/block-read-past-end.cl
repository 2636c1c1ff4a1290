// run copy global=64 local=64 args=buffer(u32,62,iota),buffer(u32,64)
// note: a sub-group reads a row of as many elements as it has work-items, of which the array lacks the last two
uint __attribute__((overloadable)) intel_sub_group_block_read(const global uint *from);

kernel void copy(global const uint *in, global uint *out) {
  size_t i = get_global_id(0);
  out[i] = intel_sub_group_block_read(in + i - get_sub_group_local_id()); //~ out-of-bounds
}
