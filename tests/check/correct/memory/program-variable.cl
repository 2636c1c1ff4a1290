// run keep global=64 local=64 args=buffer(i32,64)
// strict
// note: a variable of the program may be written, beside constants that may not
constant int factors[4] = {1, 2, 3, 4};
global int kept[64];

kernel void keep(global int *out) {
  int i = get_global_id(0);
  kept[i] = factors[i % 4] * i;
  out[i] = kept[i];
}
