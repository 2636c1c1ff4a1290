// Memory: structures by value and behind pointers, packed ones, unions, arrays, pointer arithmetic,
// pointers kept in memory, generic pointers, private arrays, copies.
typedef struct { int a; char b; long c; short d[3]; float2 e; } S;
typedef struct __attribute__((packed)) { char a; int b; short c; long d; } P;
typedef struct { S s[2]; int tail; } N;
typedef union { float f; uint u; uchar b[4]; } U;
kernel void by_value(S s, P p, int k, global long *out) {
    if (get_global_id(0) == 0) {
        out[0] = s.a; out[1] = s.b; out[2] = s.c; out[3] = s.d[k]; out[4] = (int)s.e.y;
        out[5] = p.a; out[6] = p.b; out[7] = p.c; out[8] = p.d; out[9] = sizeof(S) + 100 * sizeof(P);
    }
    s.d[k] = (short)get_global_id(0); out[10 + get_global_id(0)] = s.d[k] + s.a;
}
kernel void structs(global const S *in, global N *out, global P *packed) {
    size_t i = get_global_id(0); N n; n.s[0] = in[i]; n.s[1] = in[get_global_size(0) - 1 - i]; n.tail = n.s[0].a - n.s[1].a;
    n.s[1].d[i % 3] = 77; out[i] = n; packed[i].a = (char)i; packed[i].b = n.tail; packed[i].c = n.s[0].d[1]; packed[i].d = n.s[0].c;
}
kernel void unions(global const float *a, global uint *out) {
    size_t i = get_global_id(0); U u; u.f = a[i]; u.b[3] ^= 0x80; out[2 * i] = u.u; u.u += 1; out[2 * i + 1] = u.b[0] + u.b[1] * 256;
}
kernel void pointers(global int *a, global int *out, int n) {
    size_t i = get_global_id(0); global int *p = a + i, *q = a + n - 1 - i;
    out[6 * i] = *p - *q; out[6 * i + 1] = (int)(q - p); out[6 * i + 2] = p < q; out[6 * i + 3] = p == q;
    out[6 * i + 4] = p[(int)i * -1]; global char *c = (global char *)p; out[6 * i + 5] = c[1] + ((ulong)c & 3);
}
typedef struct Node { int value; global struct Node *next; } Node;
kernel void list(global Node *nodes, global int *out, int n) {
    if (get_global_id(0) == 0) for (int i = 0; i < n; i++) nodes[i].next = i + 1 < n ? nodes + (i + 1) : (global Node *)0;
    int s = 0; if (get_global_id(0) == 0) for (global Node *p = nodes; p; p = p->next) s = s * 3 + p->value;
    if (get_global_id(0) == 0) out[0] = s;
}
int peek(const int *p, int i) { return p[i]; }
__attribute__((noinline)) void poke(int *p, int v) { *p = v; }
kernel void generics(global int *g, local int *l, global int *out, constant int *c) {
    size_t i = get_local_id(0); int priv[4] = { 1, 2, 3, 4 }; l[i] = g[i] * 10; barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i % 3 == 0 ? (int *)(g + i) : i % 3 == 1 ? (int *)(l + i) : (int *)(priv + i % 4);
    out[4 * i] = peek(p, 0); poke(p, (int)i + 100); out[4 * i + 1] = i % 3 == 0 ? g[i] : i % 3 == 1 ? l[i] : priv[i % 4];
    out[4 * i + 2] = (ulong)p == (ulong)(g + i); out[4 * i + 3] = c[i & 1];
}
kernel void private_array(global const int *a, global int *out, int n) {
    size_t i = get_global_id(0); int t[33]; for (int k = 0; k < 33; k++) t[k] = a[(i + k) % n];
    for (int k = 1; k < 33; k++) for (int j = k; j > 0 && t[j - 1] > t[j]; j--) { int x = t[j]; t[j] = t[j - 1]; t[j - 1] = x; }
    out[2 * i] = t[16]; out[2 * i + 1] = t[(int)(i * 7 % 33)];
}
kernel void volatiles(global volatile int *a, global int *out) {
    size_t i = get_global_id(0); a[i] = a[i] + 1; out[i] = a[i] * a[i];
}
