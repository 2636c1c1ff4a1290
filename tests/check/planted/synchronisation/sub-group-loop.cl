// run steps global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a vote of the sub-group in a loop that its work-items leave one after another
kernel void steps(global const int *in, global int *out) {
  int l = get_local_id(0), left = in[l] % 5, rounds = 0;
  while (left > 0) {
    left--;
    if (sub_group_any(left > 2)) //~ sub-group-divergence
      rounds++;
  }
  out[l] = rounds;
}
