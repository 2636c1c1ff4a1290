// run offsets global=65 local=65 args=buffer(i32,65),buffer(i32,192,iota),buffer(f32,64)
// run multiply global=64 local=32 args=same(0),same(1),buffer(f32,192,random),buffer(f32,64,random),same(2)
// note: irregular codes: a sparse matrix in compressed rows
kernel void offsets(global int *rows, global int *columns, global float *out) {
  int i = get_global_id(0);
  rows[i] = 3 * i;
  for (int k = 0; k < 3 && i < 64; k++)
    columns[3 * i + k] = (columns[3 * i + k] * 7) % 64;
}

kernel void multiply(global const int *rows, global const int *columns, global const float *values,
                     global const float *x, global float *y) {
  int row = get_global_id(0);
  float sum = 0.0f;
  for (int k = rows[row]; k < rows[row + 1]; k++)
    sum += values[k] * x[columns[k]];
  y[row] = sum;
}
