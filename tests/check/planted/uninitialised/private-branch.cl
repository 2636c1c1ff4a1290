// run vote global=64 local=64 args=buffer(i32,64,random),buffer(i32,64)
// note: only the counter that was met is set, and another is compared
kernel void vote(global const int *in, global int *out) {
  int i = get_global_id(0);
  int votes[4];
  votes[in[i] & 3] = i;
  if (votes[(in[i] + 1) & 3] > 10) //~ uninitialised-value
    atomic_inc(out); //~^other
}
