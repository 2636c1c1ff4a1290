kernel void count_hits(global const float *in, global uint *hits) {
  if (in[get_global_id(0)] > 0.5f) atomic_inc((volatile global uint *)hits);
}
