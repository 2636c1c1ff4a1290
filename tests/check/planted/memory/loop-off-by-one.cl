// run rows global=64 local=64 args=buffer(i32,1024,iota),buffer(i32,64),i32(16)
// note: the last row's loop runs one step too far; other rows only add a wrong element
kernel void rows(global const int *matrix, global int *sums, int width) {
  int row = get_global_id(0);
  int sum = 0;
  for (int k = 0; k <= width; k++)
    sum += matrix[row * width + k]; //~ out-of-bounds
  sums[row] = sum;
}
