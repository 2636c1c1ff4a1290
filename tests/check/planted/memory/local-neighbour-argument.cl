// run pairs global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),local(256),local(512)
// note: two local arguments; a write past the first lands in the second
kernel void pairs(global const int *in, global int *out, local int *small, local int *large) {
  int l = get_local_id(0);
  large[l] = 0;
  large[l + 64] = 0;
  small[l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 4)
    small[l + 64] = 1; //~ local-bounds
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = small[l] + large[l];
}
