// Two modules: doubled.spv, and with -DLIBRARY twice.spv.
float twice(float x);
#ifdef LIBRARY
float twice(float x) { return 2 * x; }
#else
kernel void doubled(global float *data) {
  size_t i = get_global_id(0);
  data[i] = twice(data[i]);
}
#endif
