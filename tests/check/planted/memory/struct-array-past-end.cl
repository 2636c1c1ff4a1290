// run energy global=32 local=32 args=buffer(f32,124,random),buffer(f32,32)
// note: 31 particles of four floats and 32 work-items; only a field is read
typedef struct {
  float x, y, z, mass;
} Particle;

kernel void energy(global const Particle *particles, global float *out) {
  int i = get_global_id(0);
  out[i] = particles[i].mass * 9.81f; //~ out-of-bounds
}
