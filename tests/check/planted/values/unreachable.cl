// run choose global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a function that never returns does return. May crash without a checker
#pragma clang diagnostic ignored "-Winvalid-noreturn"
__attribute__((noreturn, noinline)) void fail(volatile global int *out) {
  out[0] = 1; //~? unreachable
} //~ unreachable

kernel void choose(global const int *in, global int *out) {
  int i = get_global_id(0);
  if (in[i] > 50)
    fail(out + i); //~^other
  out[i] = in[i];
}
