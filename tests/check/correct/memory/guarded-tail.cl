// run scale global=256 local=64 args=buffer(f32,250,random),i32(250)
// note: the global size is rounded up, and the work-items behind the end do nothing
kernel void scale(global float *data, int n) {
  int i = get_global_id(0);
  if (i < n)
    data[i] *= 2.0f;
}
