// run window global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),i32(100000)
// note: virtual coordinates: the index is large, the base is moved by as much
kernel void window(global const int *in, global int *out, int origin) {
  global const int *virtual_in = in - origin;
  int i = get_global_id(0) + origin;
  out[i - origin] = virtual_in[i] + 1;
}
