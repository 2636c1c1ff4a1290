// run set global=64 local=64 args=freed(i32,64),i32(7)
// note: the buffer was freed before the launch. May crash without a checker
kernel void set(global int *out, int value) {
  int i = get_global_id(0);
  out[i] = value * i; //~ use-after-free
}
