// Pointers in structs that are passed by value, as SYCL's compilers pass what a kernel captures.
typedef __attribute__((opencl_global)) int global_int;

unsigned long get_global_id(unsigned dimension);

struct Places {
    long add;
    global_int *first;
    struct {
        global_int *second;
        global_int *looked_at;
    } inner;
};

extern "C" __attribute__((device_kernel)) void fields(global_int *out, Places places) {
    unsigned long i = get_global_id(0);
    int found = places.inner.looked_at ? 100 : 0;
    places.first[i] = 1;
    out[i] = int(places.add) + places.inner.second[i] + found;
}
