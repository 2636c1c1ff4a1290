// run distance global=1 local=1 args=buffer(i32,64,iota),buffer(i32,64,iota),buffer(i64,1),buffer(i32,64)
// run gather global=64 local=64 args=same(0),same(1),same(2),same(3)
// note: far beyond the end of one buffer lies another buffer of the same launch
kernel void distance(global const int *a, global const int *b, global long *apart, global int *out) {
  apart[0] = ((long)b - (long)a) / 4;
  out[0] = 0;
}

kernel void gather(global const int *a, global const int *b, global const long *apart, global int *out) {
  int i = get_global_id(0);
  int known = b[i];
  out[i] = known + a[apart[0] + i]; //~ out-of-bounds
}
