// The library of linking_a; `own` here is another function than the one there.
constant int shared_table[4] = { 100, 200, 300, 400 };
static int own(int x) { return x * 1000; }
float scale(float x, int k) { return x * (float)k + 0.5f; }
void fill(global int *p, int n, int v) { for (int i = 0; i < n; i++) p[i] = v + own(i); }
int twice(int x) { return x * 2; }
