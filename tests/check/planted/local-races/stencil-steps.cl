// run heat global=64 local=64 args=buffer(f32,64,random),buffer(f32,64),i32(4)
// note: Jacobi steps in one array: the neighbours are read while they are written
kernel void heat(global const float *in, global float *out, int steps) {
  local float t[66];
  int l = get_local_id(0) + 1;
  t[l] = in[l - 1];
  if (l <= 2)
    t[(l - 1) * 65] = 0.0f;
  for (int k = 0; k < steps; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    float next = 0.25f * t[l - 1] + 0.5f * t[l] + 0.25f * t[l + 1]; //~ race-work-items
    t[l] = next; //~^other
  }
  out[l - 1] = t[l];
}
