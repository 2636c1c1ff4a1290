// Control flow: branches, nested and divergent loops, break and continue, switch with falls and holes,
// jumps, early returns, calls that are not inlined.
kernel void branches(global const int *a, global int *out) {
    size_t i = get_global_id(0); int x = a[i], r = 0;
    if (x > 10) { if (x > 100) r = 3; else r = 2; } else if (x < 0) r = -1; else return;
    if ((x & 1) && (x % 3 == 0 || x > 50)) r += 100; out[i] = r;
}
kernel void loops(global const int *a, global int *out) {
    size_t i = get_global_id(0); int n = a[i], s = 0;
    for (int j = 0; j < n; j++) { if (j % 5 == 3) continue; if (j * j > 400) break; for (int k = j; k > 0; k /= 2) s += k & 1 ? j : 1; }
    int c = 0; uint x = (uint)n; while (x != 1 && c < 200) { x = x & 1 ? 3 * x + 1 : x / 2; c++; if (x == 0) break; }
    do { c += 2; } while (c % 7); out[2 * i] = s; out[2 * i + 1] = c;
}
kernel void switches(global const int *a, global const long *b, global const char *c, global int *out) {
    size_t i = get_global_id(0); int r = 0;
    switch (a[i]) { case 0: r = 10; break; case 1: r = 20; case 2: r += 5; break; case -7: r = 70; break; case 1000000: r = 9; break; default: r = -1; }
    switch (b[i]) { case 1L << 40: r += 1000; break; case -1L: r += 2000; break; case 0x7fffffffffffffffL: r += 3000; }
    switch (c[i]) { case -128: case -127: r += 10000; break; case 'a': r += 20000; break; case 127: r *= 2; }
    out[i] = r;
}
kernel void state_machine(global const uchar *a, global int *out, int n) {
    size_t i = get_global_id(0); int state = 0, words = 0, digits = 0;
    for (int k = 0; k < n; k++) {
        uchar ch = a[(k + i * 3) % n];
        switch (state) {
        case 0: if (ch >= 'a' && ch <= 'z') { state = 1; words++; } else if (ch >= '0' && ch <= '9') { state = 2; digits++; } break;
        case 1: if (ch == ' ') state = 0; else if (ch == '!') goto done; break;
        default: if (ch >= '0' && ch <= '9') digits++; else state = 0;
        }
    }
done:
    out[i] = words * 1000 + digits * 10 + state;
}
kernel void tangled(global const int *a, global int *out) { // two entries into one cycle
    size_t i = get_global_id(0); int x = a[i], s = 0;
    if (x & 1) goto second;
first: s += 3; x--; if (x < -20) goto end;
second: s = s * 2 + x; x -= 2; if (s > 1000 || x < -10) goto end; if (x % 3 != 0) goto first; s += 7; goto second;
end: out[i] = s;
}
__attribute__((noinline)) int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
typedef struct { int q, r; } Q;
__attribute__((noinline)) Q split(int a, int b) { Q q; q.q = a / b; q.r = a % b; return q; }
__attribute__((noinline)) float2 polar(float2 v, int k) { if (k > 2) return v * 2.0f; return v.yx; }
kernel void calls(global const int *a, global int *out) {
    size_t i = get_global_id(0); int x = a[i], y = (int)i + 1; Q q = split(x, y); float2 p = polar((float2)(x, y), (int)i);
    out[4 * i] = gcd(x < 0 ? -x : x, y); out[4 * i + 1] = q.q; out[4 * i + 2] = q.r; out[4 * i + 3] = (int)(p.x * 3.0f - p.y);
}
kernel void never(global int *a, global int *out) {
    size_t i = get_global_id(0); if (a[i] > 5) { out[i] = 1; if (a[i] < 3) __builtin_unreachable(); } else out[i] = 2;
    #pragma unroll 4
    for (int k = 0; k < a[i]; k++) out[i] += k;
}
