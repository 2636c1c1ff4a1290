// run count global=64 local=64 args=buffer(i32,64,iota),buffer(i32,1,uninit)
// note: a counter that nobody cleared, and the host reads it
kernel void count(global const int *in, global int *counter) {
  int i = get_global_id(0);
  if (in[i] % 3 == 0)
    atomic_inc(counter); //~ uninitialised-value
}
