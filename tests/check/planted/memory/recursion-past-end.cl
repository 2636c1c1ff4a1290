// run sums global=64 local=64 args=buffer(i32,128,iota),buffer(i32,64)
// note: the last leaf of each tree lies behind it; functions that call themselves are not inlined
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef int (*walk)(global const int *, int, ulong);
int sum(global const int *tree, int node, ulong self) {
  if (node > 128)
    return 0;
  int left = ((walk)self)(tree, 2 * node, self), right = ((walk)self)(tree, 2 * node + 1, self);
  return left + right * 3 + tree[node]; //~ out-of-bounds
}
int other(global const int *tree, int node, ulong self) { return node > 100 ? 0 : ((walk)self)(tree, node + 1, self); }
kernel void sums(global const int *tree, global int *out) {
  int i = get_local_id(0);
  out[i] = sum(tree, i + 1, (ulong)(tree[0] == 0 ? sum : other));
}
