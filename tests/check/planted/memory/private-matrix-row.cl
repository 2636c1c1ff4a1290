// run trace global=16 local=16 args=buffer(i32,16,iota),buffer(i32,16),i32(4)
// note: rows and columns of a private 3 x 4 matrix are swapped
kernel void trace(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  int m[3][4];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++)
      m[r][c] = in[(r + c + i) & 15];
  int sum = 0;
  for (int c = 0; c < n; c++)
    sum += m[c][(c + i) & 3]; //~ private-bounds
  out[i] = sum;
}
