// Half of a program: the kernel's function comes from the other half. kernels/build.sh compiles each.
#ifdef KERNEL
int twice(int value);
kernel void doubled(global int *a) { a[get_global_id(0)] = twice(a[get_global_id(0)]); }
#else
int twice(int value) { return 2 * value; }
#endif
