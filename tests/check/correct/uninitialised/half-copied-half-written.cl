// run copy global=32 local=32 args=buffer(i32,64,scratch),buffer(i32,64,scratch)
// wait
// host write 1+160
// run keep global=64 local=64 args=same(1),buffer(i32,64)
// device: cpu
// note: a kernel copies contents that nobody wrote to one half of a buffer; the host writes the other
kernel void copy(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i];
}
kernel void keep(global const int *in, global int *out) {
  if (in[40] > 7)
    out[get_global_id(0)] = in[40];
}
