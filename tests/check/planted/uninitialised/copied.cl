// run prepare global=64 local=64 args=buffer(i32,64,scratch),buffer(i32,64,scratch),buffer(i32,64)
// copy same(1) same(0) 256
// run choose global=64 local=64 args=same(1),same(2)
// note: a copy carries memory that nobody wrote into another buffer
kernel void prepare(global int *a, global int *b, global int *out) {
  int i = get_global_id(0);
  if (i >= 32)
    a[i] = i;
  out[i] = 0;
}

kernel void choose(global const int *flags, global int *out) {
  int i = get_global_id(0);
  out[i] = flags[i] > 10 ? 1 : 2; //~ uninitialised-value
}
