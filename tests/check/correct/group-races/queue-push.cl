// run push global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),buffer(i32,1)
// run sum global=256 local=64 args=same(1),same(2),buffer(i32,4)
// note: a queue whose slots are drawn by an atomic; the next launch reads it
kernel void push(global const int *in, global int *queue, global atomic_int *tail) {
  int i = get_global_id(0);
  if (in[i] % 3 == 0) {
    int slot = atomic_fetch_add_explicit(tail, 1, memory_order_relaxed, memory_scope_device);
    queue[slot] = in[i];
  }
}

kernel void sum(global const int *queue, global const int *tail, global int *out) {
  int i = get_global_id(0);
  int sum = work_group_reduce_add(i < tail[0] ? queue[i] : 0);
  if (get_local_id(0) == 0)
    out[get_group_id(0)] = sum;
}
