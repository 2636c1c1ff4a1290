// run claim global=256 local=64 args=buffer(i32,16),buffer(i32,16)
// note: the work-item that finds a slot free owns it, and alone writes its data
kernel void claim(global int *slots, global int *data) {
  int i = get_global_id(0);
  if (atomic_xchg(&slots[i % 16], 1) == 0)
    data[i % 16] = i;
}
