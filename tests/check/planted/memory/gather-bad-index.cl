// run gather global=64 local=64 args=buffer(f32,64,random),buffer(i32,64,iota),buffer(f32,64),i32(1)
// note: irregular codes: an index array that counts from one
kernel void gather(global const float *values, global const int *index, global float *out, int base) {
  int i = get_global_id(0);
  int from = index[i] + base;
  out[i] = values[from]; //~ out-of-bounds
}
