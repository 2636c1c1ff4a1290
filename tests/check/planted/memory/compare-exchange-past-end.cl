// run claim global=64 local=64 args=buffer(i32,63,zero),buffer(i32,64)
// note: a table of slots that has one too few
kernel void claim(global int *slots, global int *out) {
  int i = get_global_id(0);
  int before = atomic_cmpxchg(&slots[i], 0, i + 1); //~ out-of-bounds
  out[i] = before;
}
