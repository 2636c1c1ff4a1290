// run smooth global=256 local=64 args=buffer(f32,258,random)
// note: a stencil in place, with a barrier between reading and writing: neighbours in other groups do not wait
kernel void smooth(global float *data) {
  int i = get_global_id(0) + 1;
  float sum = data[i - 1] + data[i] + data[i + 1]; //~ race-groups
  barrier(CLK_GLOBAL_MEM_FENCE);
  data[i] = sum / 3.0f; //~^other
}
