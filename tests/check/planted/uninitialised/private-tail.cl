// run pick global=64 local=64 args=buffer(i32,256,iota),buffer(i32,64),i32(4)
// note: four of eight private elements are filled, and one of all is taken
kernel void pick(global const int *in, global int *out, int filled) {
  int i = get_global_id(0);
  int keys[8];
  for (int k = 0; k < filled; k++)
    keys[k] = in[i * 4 + k];
  out[i] = keys[i & 7]; //~ uninitialised-value
}
