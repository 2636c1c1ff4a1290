// run phases global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: one piece of local memory holds ints in the first phase and floats in the second
kernel void phases(global const int *in, global int *out) {
  local int memory[64];
  local float *floats = (local float *)memory;
  int l = get_local_id(0);
  memory[l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  int value = memory[63 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  floats[l ^ 1] = value * 0.5f;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = (int)floats[l];
}
