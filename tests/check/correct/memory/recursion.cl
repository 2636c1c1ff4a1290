// run sums global=64 local=64 args=buffer(i32,128,iota),buffer(i32,64)
// note: a tree that is walked by a function that calls itself, with a private stack
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef int (*walk)(global const int *, int, private int *, int, ulong);
int sum(global const int *tree, int node, private int *path, int depth, ulong self) {
  if (node >= 128)
    return 0;
  path[depth] = node;
  int left = ((walk)self)(tree, 2 * node, path, depth + 1, self);
  int right = ((walk)self)(tree, 2 * node + 1, path, depth + 1, self);
  return left + right * 3 + tree[node] + path[depth];
}
int other(global const int *tree, int node, private int *path, int depth, ulong self) {
  return depth > 3 ? path[0] : ((walk)self)(tree, node, path, depth + 1, self);
}
kernel void sums(global const int *tree, global int *out) {
  int path[16];
  int i = get_local_id(0);
  path[0] = 0;
  out[i] = sum(tree, i + 1, path, 0, (ulong)(tree[0] == 0 ? sum : other));
}
