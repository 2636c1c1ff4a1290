int pick(global const int *in, int i) {
  return in[i + 1];
}
int both(global const int *in, int i) {
  return pick(in, i) * 2;
}
kernel void run(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = both(in, i);
}
int shared(global const int *in, int i) {
  return in[i + 2];
}
kernel void several(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = shared(in, i) + shared(in, i + 1);
}
