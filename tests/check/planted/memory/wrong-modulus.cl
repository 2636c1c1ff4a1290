// run ring global=128 local=64 args=buffer(i32,50,iota),buffer(i32,128),i32(51)
// note: a ring buffer whose size is one too large
kernel void ring(global const int *slots, global int *out, int size) {
  int i = get_global_id(0);
  int slot = (i * 7) % size;
  out[i] = slots[slot]; //~ out-of-bounds
}
