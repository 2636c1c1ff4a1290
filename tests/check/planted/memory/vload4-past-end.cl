// run add global=16 local=16 args=buffer(i32,62,iota),buffer(i32,16)
// note: 62 elements are not a multiple of four, and the last vector ends behind them
kernel void add(global const int *in, global int *out) {
  int i = get_global_id(0);
  int4 v = vload4(i, in); //~ out-of-bounds
  out[i] = v.x + v.y + v.z + v.w;
}
