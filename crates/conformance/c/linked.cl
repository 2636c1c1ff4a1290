// Two modules that need each other; linked_library.spv and linked_user.spv are made from this file by clang
// -target spirv64, with and without -DLIBRARY.
#ifdef LIBRARY
global int calls = 40;

int twice(int x) {
  ++calls;
  return 2 * x;
}

kernel void library(global int *out) { out[0] = calls; }
#else
int twice(int x);

kernel void user(global int *out, int x) { out[0] = twice(x); }
#endif
