// run copy global=64 local=64 args=buffer(i32,64,scratch),buffer(i32,64,scratch)
// run set global=32 local=32 args=same(1)
// run keep global=64 local=64 args=same(1),buffer(i32,64)
// note: a kernel overwrites half of the copied contents, so that the other half stays uninitialised
kernel void copy(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i]; //~ uninitialised-value
}
kernel void set(global int *out) {
  out[get_global_id(0)] = 5;
}
kernel void keep(global const int *in, global int *out) {
  if (in[63] > 7) //~^other
    out[get_global_id(0)] = 1;
}
