// run blur global=128 local=64 args=buffer(f32,128,random),buffer(f32,128)
// note: neighbours are clamped to the edges
kernel void blur(global const float *in, global float *out) {
  int i = get_global_id(0), n = get_global_size(0);
  float left = in[max(i - 1, 0)], right = in[min(i + 1, n - 1)];
  out[i] = (left + in[i] + right) / 3.0f;
}
