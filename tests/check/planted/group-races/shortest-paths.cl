// run relax global=64 local=16 args=buffer(u32,64,1000),buffer(u32,64,random)
// note: graph kernels: distances are compared and lowered without an atomic
kernel void relax(global uint *distance, global const uint *weight) {
  uint v = get_global_id(0);
  uint to = (v * 5) % 16;
  uint length = weight[v] % 100;
  if (length < distance[to]) //~ race-groups|race-work-items
    distance[to] = length; //~^other
}
