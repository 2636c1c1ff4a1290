// What doctor runs on each device; launch.spv is made from this file by clang -target spirv64.
kernel void check(global uint *out, uint key) {
  size_t i = get_global_id(0);
  out[i] = (uint)i * 2654435761u + key;
}
