// run expand global=64 local=16 args=buffer(i32,64,-1),buffer(i32,64),buffer(i32,1),i32(1)
// note: the one that changes the level puts the vertex into the next frontier
kernel void expand(global int *levels, global int *frontier, global int *count, int level) {
  int v = get_global_id(0);
  for (int k = 0; k < 4; k++) {
    int to = (v / 4 + k * 13) % 64;
    if (atomic_cmpxchg(&levels[to], -1, level) == -1)
      frontier[atomic_inc(count)] = to;
  }
}
