// run histogram global=256 local=64 args=buffer(u32,256,random),buffer(i32,32)
// note: 33 bins, counted from 0 to 32, and memory for 32
kernel void histogram(global const uint *in, global int *bins) {
  int i = get_global_id(0);
  uint bin = in[i] % 33;
  atomic_inc(&bins[bin]); //~ out-of-bounds
}
