// run mirror global=65 local=13 args=buffer(i32,65,iota),buffer(i32,65)
// note: indices from -32 to 32 around the middle
kernel void mirror(global const int *in, global int *out) {
  global const int *middle = in + 32;
  int i = (int)get_global_id(0) - 32;
  out[32 + i] = middle[-i];
}
