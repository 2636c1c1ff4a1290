// run quotients global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the innermost call divides by an element that is zero
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef int (*walk)(global const int *, int, ulong);
int quotient(global const int *in, int at, ulong self) {
  if (at > 48)
    return 1;
  int rest = ((walk)self)(in, at + 16, self);
  return rest * 5 + 1000 / in[at]; //~ division-by-zero
}
int other(global const int *in, int at, ulong self) { return at > 9 ? 0 : ((walk)self)(in, at + 1, self); }
kernel void quotients(global const int *in, global int *out) {
  int i = get_local_id(0);
  out[i] = quotient(in, i, (ulong)(in[0] == 0 ? quotient : other));
}
