// run keep global=256 local=64 args=buffer(i32,256,iota),buffer(i32,100),buffer(i32,1)
// note: a compaction keeps more elements than its output has room for
kernel void keep(global const int *in, global int *out, global int *used) {
  int i = get_global_id(0);
  int value = in[i];
  if (value % 2 == 0) {
    int slot = atomic_inc(used);
    out[slot] = value; //~ out-of-bounds
  }
}
