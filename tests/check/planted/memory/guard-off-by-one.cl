// run scale global=256 local=64 args=buffer(f32,200,random),i32(200)
// note: `<=` where `<` was meant
kernel void scale(global float *data, int n) {
  int i = get_global_id(0);
  if (i <= n)
    data[i] *= 2.0f; //~ out-of-bounds
}
