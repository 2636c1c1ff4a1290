// run length global=4 local=4 args=buffer(u8,32,65),buffer(i32,4)
// note: a text without its final zero; the loop gives up eight bytes behind the end
kernel void length(global const uchar *text, global int *out) {
  int i = get_global_id(0);
  int n = i;
  while (n < 40 && text[n] != 0) //~ out-of-bounds
    n++;
  out[i] = n;
}
