// run ticket global=256 local=64 args=buffer(i32,4),buffer(i32,256)
// note: tickets drawn with the scope of a sub-group by all groups
kernel void ticket(global atomic_int *next, global int *out) {
  int i = get_global_id(0);
  int mine = atomic_fetch_add_explicit(&next[i % 4], 1, memory_order_acq_rel, memory_scope_sub_group); //~ atomic-scope
  out[i] = mine;
}
