// run count global=256 local=64 args=buffer(i32,256,iota),buffer(i32,4)
// note: the scope of a group is enough for a counter that one group uses
kernel void count(global const int *in, global atomic_int *counters) {
  if (in[get_global_id(0)] % 5 == 0)
    atomic_fetch_add_explicit(&counters[get_group_id(0)], 1, memory_order_relaxed, memory_scope_work_group);
}
