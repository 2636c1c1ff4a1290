// Two modules: this one has the kernels and imports functions and a variable of linking_b.
extern float scale(float x, int k);
extern void fill(global int *p, int n, int v);
extern int twice(int x);
extern constant int shared_table[4];
int own(int x) { return twice(x) + 1; }
kernel void use(global float *f, global int *g, global const int *in) {
    size_t i = get_global_id(0); f[i] = scale(f[i], (int)i); g[i] = own(in[i]) + shared_table[i & 3]; if (i == 0) fill(g + get_global_size(0), 4, 9);
}
