// run compact global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),buffer(u32,1,scratch)
// note: slots are drawn from a counter that nobody cleared
kernel void compact(global const int *in, global int *out, global uint *next) {
  int i = get_global_id(0);
  uint slot = atomic_inc(next); //~ uninitialised-value
  out[slot % 64] = in[i]; //~^other
}
