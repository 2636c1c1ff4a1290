// run scan global=64 local=64 args=buffer(i32,64,ones),buffer(i32,64)
// note: Blelloch's scan without a barrier between the up-sweep and the clearing of the root
kernel void scan(global const int *in, global int *out) {
  local int tree[64];
  int l = get_local_id(0);
  tree[l] = in[l];
  for (int step = 1; step < 64; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((l + 1) % (2 * step) == 0)
      tree[l] += tree[l - step]; //~ race-work-items
  }
  if (l == 0)
    tree[63] = 0; //~^other
  for (int step = 32; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((l + 1) % (2 * step) == 0) {
      int left = tree[l - step];
      tree[l - step] = tree[l];
      tree[l] += left;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = tree[l];
}
