// run tiles global=32x32 local=8x8 args=buffer(i32,1089)
// note: tiles of nine columns are written eight apart
kernel void tiles(global int *out) {
  int x = get_global_id(0), y = get_global_id(1);
  int group = get_group_id(1) * 4 + get_group_id(0);
  out[y * 33 + x] = group; //~ race-groups
  if (get_local_id(0) == 7)
    out[y * 33 + x + 1] = group; //~^other
}
