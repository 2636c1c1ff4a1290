// run offsetof global=64 local=64 args=null,buffer(i32,64)
// note: an optional argument that was left out is read. Solum alone reads zero through a null argument
kernel void offsetof(global const int *bias, global int *out) {
  int i = get_global_id(0);
  out[i] = i + bias[i]; //~ null-pointer
}
