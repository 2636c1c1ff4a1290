// run shifts global=64 local=64 args=buffer(u32,64,iota),buffer(u32,64)
// note: OpenCL C takes the count of a shift modulo the width
kernel void shifts(global const uint *in, global uint *out) {
  uint i = get_global_id(0);
  uint rotated = in[i] << (i & 31) | in[i] >> (-i & 31);
  out[i] = rotated ^ (in[i] << i);
}
