// run sweep global=128 local=32 args=buffer(i32,128,random),buffer(i32,128),buffer(i32,1)
// note: graph kernels: all groups set one flag that asks for another sweep
kernel void sweep(global const int *distance, global int *better, global int *changed) {
  int v = get_global_id(0);
  if (distance[v] > 0) {
    better[v] = distance[v] - 1;
    *changed = 1; //~ same-value-write
  }
}
