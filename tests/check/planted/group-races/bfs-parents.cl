// run expand global=64 local=16 args=buffer(i32,64),buffer(i32,64,iota)
// allow: same-value
// note: graph kernels: each vertex writes itself as the parent of its neighbours, and the last one wins
kernel void expand(global int *parents, global const int *vertices) {
  int v = get_global_id(0);
  int left = (v + 63) % 64, right = (v + 1) % 64;
  parents[left] = vertices[v]; //~ race-groups|race-work-items
  parents[right] = vertices[v]; //~^other
}
