// Integer arithmetic of every width: wrapping, saturation, shifts by more than the width, bit counts.
#define OPS(T, U) \
kernel void ops_##T(global const T *a, global const T *b, global T *out) { \
    size_t i = get_global_id(0); T x = a[i], y = b[i]; global T *o = out + i * 28; \
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = x & y; o[4] = x | y; o[5] = x ^ y; \
    o[6] = x << y; o[7] = x >> y; o[8] = -x; o[9] = ~x; o[10] = min(x, y); o[11] = max(x, y); \
    o[12] = (T)abs(x); o[13] = mul_hi(x, y); o[14] = add_sat(x, y); o[15] = sub_sat(x, y); \
    o[16] = rotate(x, y); o[17] = clz(x); o[18] = ctz(x); o[19] = popcount(x); \
    o[20] = clamp(x, min(y, (T)5), max(y, (T)5)); o[21] = (T)abs_diff(x, y); o[22] = hadd(x, y); \
    o[23] = rhadd(x, y); o[24] = mad_hi(x, y, x); o[25] = mad_sat(x, y, x); \
    o[26] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5 | (!x) << 6; \
    o[27] = x > y ? x - y : y; } \
kernel void div_##T(global const T *a, global const T *b, global T *out) { \
    size_t i = get_global_id(0); T x = a[i], y = b[i]; \
    out[i] = x / y; } \
kernel void rem_##T(global const T *a, global const T *b, global T *out) { \
    size_t i = get_global_id(0); T x = a[i], y = b[i]; \
    out[i] = x % y; }
OPS(char, uchar) OPS(uchar, uchar) OPS(short, ushort) OPS(ushort, ushort)
OPS(int, uint) OPS(uint, uint) OPS(long, ulong) OPS(ulong, ulong)

kernel void mixed(global const int *a, global const int *b, global long *out) {
    size_t i = get_global_id(0); int x = a[i], y = b[i]; global long *o = out + i * 10;
    o[0] = mad24(x & 0x7fffff, y & 0x3f, 7); o[1] = mul24(x & 0x7fffff, y & 0xff);
    o[2] = upsample(x, (uint)y); o[3] = (long)upsample((uint)x, (uint)y);
    o[4] = upsample((short)x, (ushort)y); o[5] = upsample((char)x, (uchar)y);
    o[6] = (long)x * y; o[7] = (ulong)(uint)x * (uint)y; o[8] = (x && y) | (x || y) << 1; o[9] = x ? y : 9;
}
