// run update global=32 local=32 args=shared(f32,128,random),host(f32,32,ones)
// note: structures of arrays and arrays of structures in shared and host memory
typedef struct {
  float x, y, z, mass;
} Particle;

kernel void update(global Particle *particles, global const float *steps) {
  int i = get_global_id(0);
  particles[i].x += steps[i] * particles[i].mass;
  particles[31 - i].y = steps[31 - i];
}
