// run pairs global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),local(256),local(128)
// note: two local arguments, both used to their ends
kernel void pairs(global const int *in, global int *out, local int *ints, local short *shorts) {
  int l = get_local_id(0);
  ints[l] = in[l];
  shorts[63 - l] = (short)l;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = ints[63 - l] + shorts[l];
}
