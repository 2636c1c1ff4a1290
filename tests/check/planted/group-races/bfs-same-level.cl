// run expand global=64 local=16 args=buffer(i32,64,4),buffer(i32,64),buffer(i32,64),i32(1)
// note: graph kernels: vertices of one level give their neighbours the same level
kernel void expand(global const int *degrees, global int *seen, global int *levels, int level) {
  int v = get_global_id(0);
  for (int k = 0; k < degrees[v]; k++) {
    int to = (v / 4 + k * 13) % 64;
    levels[to] = level; //~ same-value-write
  }
  seen[v] = 1;
}
