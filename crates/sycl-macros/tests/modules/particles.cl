typedef struct { float x, y; int count; char tag; double weight; } Particle;
typedef struct __attribute__((packed)) { char a; int b; } Packed;

kernel void saxpy(float a, global const float *x, global float *y) { size_t i = get_global_id(0); y[i] += a * x[i]; }
kernel void everything(Particle p, global Particle *out, global const float4 *v, local int *scratch, ulong n, uchar c, float3 f, global const Packed *q) {
  size_t i = get_global_id(0); scratch[0] = q[i].b; barrier(CLK_LOCAL_MEM_FENCE); if (i < n) { out[i] = p; out[i].x += v[i].x + f.z + scratch[0] + c; } }
