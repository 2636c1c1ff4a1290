// run blur global=126 local=63 args=buffer(f32,126,random),buffer(f32,126)
// note: written for an array with a halo of one on each side, called for one without
kernel void blur(global const float *padded, global float *out) {
  int i = get_global_id(0);
  float sum = padded[i];
  sum += padded[i + 1]; //~ out-of-bounds
  sum += padded[i + 2]; //~ out-of-bounds
  out[i] = sum / 3.0f;
}
