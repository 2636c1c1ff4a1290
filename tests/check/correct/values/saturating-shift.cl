// run shifts global=64 local=64 args=buffer(u32,64,iota),buffer(u32,64)
// note: counts of the width and more are tested for
kernel void shifts(global const uint *in, global uint *out) {
  uint i = get_global_id(0);
  out[i] = in[i] < 32 ? 1u << in[i] : 0;
}
