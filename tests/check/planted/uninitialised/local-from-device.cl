// run through global=64 local=64 args=buffer(i32,64,scratch),buffer(i32,64)
// note: memory nobody wrote goes through local memory before it decides a branch
kernel void through(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l]; //~ uninitialised-value
  barrier(CLK_LOCAL_MEM_FENCE);
  if (tile[63 - l] > 0) //~^other
    atomic_inc(out); //~^other
}
