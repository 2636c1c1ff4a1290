// run keep global=64 local=64 args=buffer(i32,64,scratch),buffer(i32,64)
// note: flags that nobody wrote decide a branch
kernel void keep(global const int *flags, global int *out) {
  int i = get_global_id(0);
  if (flags[i] > 0) //~ uninitialised-value
    atomic_inc(out); //~^other
}
