// run fill global=128 local=64 args=buffer(u8,256),i32(0)
// run parallel fill global=128 local=64 args=same(0),i32(1)
// note: two launches write the even and the odd bytes of a buffer
kernel void fill(global uchar *out, int odd) {
  int i = get_global_id(0);
  out[2 * i + odd] = i;
}
