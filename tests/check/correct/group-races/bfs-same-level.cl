// run expand global=64 local=16 args=buffer(i32,64),i32(1)
// allow: same-value
// note: vertices give their neighbours the same level, which was allowed
kernel void expand(global int *levels, int level) {
  int v = get_global_id(0);
  for (int k = 0; k < 4; k++)
    levels[(v / 4 + k * 13) % 64] = level;
}
