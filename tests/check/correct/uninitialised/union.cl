// run bits global=64 local=64 args=buffer(f32,64,iota),buffer(u32,64)
// note: a union is written as a float and read as an int, and as bytes
typedef union {
  float number;
  uint bits;
  uchar bytes[8];
} Both;

kernel void bits(global const float *in, global uint *out) {
  int i = get_global_id(0);
  Both both;
  both.number = in[i];
  out[i] = both.bits ^ both.bytes[i & 3];
}
