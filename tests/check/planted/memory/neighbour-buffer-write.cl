// run distance global=1 local=1 args=buffer(i32,64,iota),buffer(i32,64,iota),buffer(i64,1)
// run scatter global=32 local=32 args=same(0),same(1),same(2)
// note: a write far beyond the end hits another buffer of the launch
kernel void distance(global int *a, global int *b, global long *apart) {
  apart[0] = ((long)b - (long)a) / 4;
}

kernel void scatter(global int *a, global int *b, global const long *apart) {
  int i = get_global_id(0);
  int value = b[i] + 1;
  a[apart[0] + 32 + i] = value; //~ out-of-bounds
}
