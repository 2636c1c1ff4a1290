// run heat global=64 local=64 args=buffer(f32,64,random),buffer(f32,64),i32(5)
// note: neighbours are read from one array and written to the other
kernel void heat(global const float *in, global float *out, int steps) {
  local float a[66], b[66];
  local float *from = a, *to = b;
  int l = get_local_id(0) + 1;
  from[l] = in[l - 1];
  if (l <= 2) {
    a[(l - 1) * 65] = 0.0f;
    b[(l - 1) * 65] = 0.0f;
  }
  for (int k = 0; k < steps; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[l] = 0.25f * from[l - 1] + 0.5f * from[l] + 0.25f * from[l + 1];
    local float *swap = from;
    from = to;
    to = swap;
  }
  out[l - 1] = from[l];
}
