// run vote global=128 local=64 args=buffer(i32,128,random),buffer(i32,8)
// note: the remainder of a negative number is negative
kernel void vote(global const int *in, global int *votes) {
  int i = get_global_id(0);
  int slot = in[i] % 4;
  atomic_add(votes + slot, 1); //~ out-of-bounds
}
