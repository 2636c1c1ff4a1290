// run push global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),buffer(i32,1)
// note: a worklist whose tail is moved without an atomic
kernel void push(global const int *in, global int *list, global int *tail) {
  int g = get_group_id(0);
  if (get_local_id(0) == 0) {
    int slot = tail[0]; //~ race-groups
    tail[0] = slot + 1; //~^other
    list[slot] = in[g]; //~? race-groups
  }
}
