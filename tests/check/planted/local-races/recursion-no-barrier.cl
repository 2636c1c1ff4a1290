// run reduce global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a function that calls itself reads what other work-items have just stored
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef int (*walk)(local const int *, int, int, ulong);
int sum(local const int *tile, int from, int count, ulong self) {
  if (count == 1)
    return tile[from]; //~ race-work-items
  int rest = count / 2;
  int left = ((walk)self)(tile, from, rest, self), right = ((walk)self)(tile, from + rest, count - rest, self);
  return left * 3 + right;
}
int other(local const int *tile, int from, int count, ulong self) {
  return from > 9 ? 0 : ((walk)self)(tile, from + 1, count, self);
}
kernel void reduce(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l]; //~^other
  out[l] = sum(tile, 0, 64, (ulong)(in[0] == 0 ? sum : other));
}
