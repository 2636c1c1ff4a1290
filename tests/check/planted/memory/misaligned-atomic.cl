// run count global=64 local=64 args=buffer(u8,72),i32(2)
// note: an atomic counter behind two bytes
kernel void count(global uchar *bytes, int shift) {
  global int *counter = (global int *)(bytes + shift);
  atomic_add(counter, (int)get_local_id(0)); //~ misaligned
}
