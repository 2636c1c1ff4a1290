// run hook global=64 local=16 args=buffer(i32,64,iota)
// note: graph kernels: labels are read while other groups lower them
kernel void hook(global int *labels) {
  int v = get_global_id(0);
  int other = (v * 11 + 16) % 64;
  int label = labels[other]; //~ race-groups|race-work-items
  if (label < v)
    labels[v] = label; //~^other
}
