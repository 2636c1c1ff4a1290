// run set global=64 local=64 args=buffer(i32,64,scratch),buffer(i32,64,scratch)
// run set global=64 local=64 args=same(0),same(1)
// wait
// host write 0
// copy same(1) same(0) 256
// run keep global=64 local=64 args=same(1),buffer(i32,64)
// device: cpu
// note: the host writes device memory, which CPU-typed devices allow; a command copies it over written memory
kernel void set(global const int *in, global int *out) {
  out[get_global_id(0)] = 5;
}
kernel void keep(global const int *in, global int *out) {
  if (in[0] > 7)
    out[get_global_id(0)] = in[0];
}
