// run largest global=256 local=64 args=buffer(f32,256,random),buffer(u32,1)
// note: positive floats are ordered as their bits
kernel void largest(global const float *in, global uint *result) {
  atomic_max(result, as_uint(in[get_global_id(0)]));
}
