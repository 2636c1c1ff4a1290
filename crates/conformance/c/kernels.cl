// Kernels of the C clients; kernels.spv is made from this file by clang -target spirv64.
kernel void add(global const float *a, global const float *b, global float *c, uint n) {
  size_t i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}

kernel void spin(global volatile uint *stop, global uint *turns) {
  uint n = 0;
  while (*stop == 0) ++n;
  turns[get_global_id(0)] = n;
}

kernel void write_to(ulong address) {
  *(global volatile int *)address = 1;
}

kernel void reverse(global const int *in, global int *out, local int *tile) {
  size_t l = get_local_id(0), n = get_local_size(0);
  tile[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[n - 1 - l];
}

kernel void empty(void) {}
