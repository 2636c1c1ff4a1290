// The kernels of awkward.cpp, which has libsycl-jit compile this text at run time: control flow, memory and types that are
// rare in benchmarks and hard for a compiler that runs work-items side by side.
#define SYCL_SIMPLE_SWIZZLES
#define SYCL2020_DISABLE_DEPRECATION_WARNINGS
#include <array>
#include <cstring>
#include <sycl/ext/oneapi/dot_product.hpp>
#include <sycl/ext/oneapi/experimental/group_sort.hpp>
#include <sycl/sycl.hpp>

namespace ex = sycl::ext::oneapi::experimental;
namespace here = sycl::ext::oneapi::this_work_item;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using sycl::local_accessor;

#define KERNEL(D) extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<D>)) void
#define ITEM(D) auto it = here::get_nd_item<D>()
#define NOT_INLINE __attribute__((noinline))

template <class T> using relaxed = sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device>;
template <class T>
using relaxed_local =
    sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::work_group, sycl::access::address_space::local_space>;

// --- control flow --------------------------------------------------------------------------------

// A loop that is entered in its middle.
KERNEL(1) duff(const u32 *in, u32 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u32 h = in[i], turns = (h % 29) / 4 + 1;
  switch (h & 3) {
    do {
    case 0: h = h * 31 + 1;
    case 3: h ^= h >> 7;
    case 2: h += turns;
    case 1: h = sycl::rotate(h, 3u);
    } while (--turns);
  }
  out[i] = h;
}
// Two loops that jump into each other.
KERNEL(1) jumps(const u32 *in, u32 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u32 x = in[i], steps = 0;
  if (x & 1) goto odd;
even:
  x = x / 2 + 7;
  if (++steps > 60) goto done;
  if (x & 4) goto even;
  if (x % 5 == 0) goto done;
odd:
  x = x * 3 + 1;
  if (++steps > 50) goto done;
  if (x % 3 != 0 && x & 2) goto even;
  if (x & 8) goto odd;
  if (steps < 9) goto even;
done:
  out[i] = x ^ steps << 24;
}
// Barriers in nested loops that a group leaves, goes on in, and branches around together.
KERNEL(1) barrier_loops(int *out, int n, local_accessor<int, 1> shared) {
  ITEM(1);
  auto group = it.get_group();
  const int l = it.get_local_id(0), size = it.get_local_range(0), g = it.get_group(0), i = it.get_global_id(0);
  int value = i;
  if (g % 4 == 3) {
    if (i < n) out[i] = -1;
    return;
  }
  for (int a = 0; a < 3 + g % 3; ++a) {
    if ((a + g) % 3 == 1) continue;
    for (int b = 0;; ++b) {
      shared[l] = value + a;
      sycl::group_barrier(group);
      const int next = shared[(l + 1) % size], sum = shared[0];
      sycl::group_barrier(group);
      if (b == 2 && g % 2) break;
      value = value * 3 + (next ^ b);
      if (sum % 5 == 0 || b == 4) break;
      switch ((g + b) % 3) {
      case 0:
        shared[size - 1 - l] = value;
        sycl::group_barrier(group);
        value += shared[l];
        sycl::group_barrier(group);
        break;
      case 1: value ^= 0x55; break;
      default:
        if (l % 3 == 0) value -= l;
      }
    }
  }
  if (i < n) out[i] = value;
}
// Counters of eight and sixteen bits that wrap, a loop over 64 bits.
KERNEL(1) wrapping_loops(const u8 *from, const u8 *to, u32 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u32 sum = 0;
  for (u8 c = from[i]; c != to[i]; ++c) sum = sum * 3 + c;
  for (std::int8_t c = std::int8_t(from[i]); c > -100; c = std::int8_t(c - 37)) sum += u32(c) * 5;
  u16 wide = u16(to[i] << 8);
  for (int turns = 0; turns < 40 && wide; ++turns) wide = u16(wide * 5 + 0x100), sum ^= wide;
  for (u64 c = u64(from[i]) << 40; c < (u64(from[i] + 7) << 40); c += u64(3) << 38) sum += u32(c >> 32);
  out[i] = sum;
}
// Work is fetched from a counter until there is none left.
KERNEL(1) fetch_work(int *counter, u32 *steps, u32 *done, int n) {
  ITEM(1);
  u32 mine = 0;
  for (int i; (i = relaxed<int>(*counter).fetch_add(1)) < n; ++mine) {
    u64 x = u64(i) + 1;
    u32 count = 0;
    while (x != 1) {
      x = x & 1 ? 3 * x + 1 : x >> 1;
      ++count;
    }
    steps[i] = count;
  }
  relaxed<u32>(*done).fetch_add(mine);
}
// A lock between groups: it protects plain memory.
KERNEL(1) locks(int *lock, u64 *plain, int turns) {
  ITEM(1);
  sycl::atomic_ref<int, sycl::memory_order::acq_rel, sycl::memory_scope::device> guard(*lock);
  for (int turn = 0; turn < turns; ++turn) {
    if (it.get_group().leader()) {
      while (guard.exchange(1, sycl::memory_order::acquire)) {
      }
      plain[0] += it.get_group(0) + 1;
      plain[1] ^= plain[0];
      plain[2] = plain[0] * 3;
      guard.store(0, sycl::memory_order::release);
    }
    sycl::group_barrier(it.get_group());
  }
}
// Sudoku by backtracking: masks of rows, columns and boxes in private memory.
KERNEL(1) sudoku(const u8 *puzzles, u8 *solved, int *tries, int n) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= n) return;
  u8 cells[81];
  u16 rows[9] = {}, columns[9] = {}, boxes[9] = {};
  for (int c = 0; c < 81; ++c) {
    const u8 digit = cells[c] = puzzles[which * 81 + c];
    if (!digit) continue;
    const u16 bit = u16(1 << digit);
    rows[c / 9] |= bit, columns[c % 9] |= bit, boxes[c / 27 * 3 + c % 9 / 3] |= bit;
  }
  u8 stack[81];
  int depth = 0, count = 0, c = 0;
  while (c < 81 && puzzles[which * 81 + c]) ++c;
  while (c < 81) {
    ++count;
    const u16 bit = u16(1 << cells[c]);
    u16 &row = rows[c / 9], &column = columns[c % 9], &box = boxes[c / 27 * 3 + c % 9 / 3];
    if (cells[c]) row &= ~bit, column &= ~bit, box &= ~bit;
    const u32 free = ~u32(row | column | box) & 0x3fe & (~0u << (cells[c] + 1));
    if (free) {
      cells[c] = u8(sycl::ctz(free));
      const u16 now = u16(1 << cells[c]);
      row |= now, column |= now, box |= now;
      stack[depth++] = u8(c);
      while (++c < 81 && puzzles[which * 81 + c]) {
      }
    } else {
      cells[c] = 0;
      if (depth == 0) break;
      c = stack[--depth];
    }
  }
  for (int k = 0; k < 81; ++k) solved[which * 81 + k] = cells[k];
  tries[which] = count;
}

// --- calls, pointers, layout ---------------------------------------------------------------------

struct Pair {
  i64 sum;
  int count;
  short few[3];
};
NOT_INLINE static Pair add(Pair a, const Pair &b, int *told) {
  *told += b.count;
  for (int i = 0; i < 3; ++i) a.few[i] = short(a.few[i] * 2 + b.few[2 - i]);
  return {a.sum + b.sum, a.count + 1, {a.few[0], a.few[1], a.few[2]}};
}
NOT_INLINE static int neighbour(const sycl::nd_item<1> &it, int *shared, int value) {
  shared[it.get_local_id(0)] = value;
  sycl::group_barrier(it.get_group());
  const int got = shared[(it.get_local_id(0) + 7) % it.get_local_range(0)];
  sycl::group_barrier(it.get_group());
  return got;
}
KERNEL(1) calls(const Pair *in, Pair *out, int n, local_accessor<int, 1> shared) {
  ITEM(1);
  const int i = it.get_global_id(0);
  Pair sum = {1, 2, {3, 4, 5}};
  int told = 0;
  for (int j = 0; j < 5; ++j) {
    const Pair &one = in[(i * 3 + j) % n];
    if (one.sum & 1) sum = add(sum, one, &told);
    told = neighbour(it, &shared[0], told + j);
  }
  sum.count += told;
  if (i < n) out[i] = sum;
}

// A pointer into one of three kinds of memory.
NOT_INLINE static u32 walk(u32 *at, int length, u32 by) {
  u32 sum = 0;
  for (int i = 0; i < length; ++i) sum = sum * 5 + at[i], at[i] += by;
  return sum;
}
KERNEL(1) pointer_kinds(u32 *memory, u32 *out, int n, local_accessor<u32, 1> shared) {
  ITEM(1);
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  u32 mine[4] = {u32(i), u32(i) * 3, 7, 9};
  for (int k = 0; k < 4; ++k) shared[4 * l + k] = u32(i + k) * 11;
  if (i >= n) return;
  u32 *at = i % 3 == 0 ? mine : i % 3 == 1 ? &shared[4 * l] : memory + 4 * i;
  const u32 first = walk(at, 4, u32(i));
  at = i % 2 ? mine : at;
  for (int turn = 0; turn < i % 5; ++turn) at = at == mine ? memory + 4 * i : mine;
  const u32 second = walk(at, 1 + i % 4, 1);
  sycl::atomic_ref<u32, sycl::memory_order::relaxed, sycl::memory_scope::device, sycl::access::address_space::generic_space>(
      i % 7 < 3 ? memory[4 * i + 1] : shared[4 * l + 2])
      .fetch_add(5);
  out[i] = first ^ second * 3 ^ walk(mine, 4, 0) * 7 ^ walk(&shared[4 * l], 4, 0) * 11;
}

struct Fields {
  u32 low : 5, middle : 11, high : 16;
  int sign : 3;
  u64 wide : 45;
};
struct __attribute__((packed)) Packed {
  u8 tag;
  u32 word;
  double real;
  u16 last;
};
union Bits {
  float real;
  u32 word;
  u8 bytes[4];
};
KERNEL(1) layouts(const u8 *bytes, const float *reals, Packed *packed, u64 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u32 raw;
  std::memcpy(&raw, bytes + i * 5 + 1, 4);
  Fields f = {raw, raw >> 3, raw >> 9, int(raw << 29) >> 29, u64(raw) << 20};
  f.middle += 77;
  f.sign ^= 1;
  f.wide *= 3;
  Bits b;
  b.real = reals[i];
  b.bytes[1] ^= 0x5a;
  const float back = b.real;
  b.word = sycl::rotate(b.word, u32(f.low));
  packed[i].tag = b.bytes[raw & 3];
  packed[i].word ^= raw;
  packed[i].real += back;
  packed[i].last = u16(f.high);
  u64 unaligned;
  std::memcpy(&unaligned, reinterpret_cast<u8 *>(packed + i) + 3, 8);
  out[i] = f.low ^ u64(f.middle) << 8 ^ u64(u32(f.sign)) << 16 ^ u64(f.wide) ^ u64(b.word) << 13 ^ unaligned;
}

struct Large {
  int numbers[40];
  struct {
    short x, y;
    double weights[3];
  } inner[5];
  u8 order[8];
};
KERNEL(1) many_arguments(bool flag, char c, u8 byte, short s, u16 us, int i32, u32 uns, i64 l, u64 ul, float f, double d, sycl::half h,
                         sycl::int3 three, sycl::float4 four, sycl::char2 two, Large large, const int *in, double *out, int n, bool last) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const int pick = in[i];
  double sum = flag ? c : -c;
  sum += byte + s + us + i32 + uns + double(l) + double(ul) + f + d + float(h);
  sum += three[pick % 3] + four[pick % 4] + two[pick & 1];
  sum += large.numbers[pick % 40] + large.inner[pick % 5].x * large.inner[(pick + 1) % 5].weights[pick % 3];
  large.order[pick & 7] += 3;
  for (int k = 0; k < 8; ++k) sum = sum * 2 + large.order[k] % 7;
  out[i] = last ? sum : 0;
}

// One local buffer for arrays of several types.
KERNEL(1) carved_local(const u8 *in, double *out, int n, local_accessor<double, 1> buffer) {
  ITEM(1);
  const int l = it.get_local_id(0), size = it.get_local_range(0), i = it.get_global_id(0);
  double *reals = &buffer[0];
  u64 *longs = reinterpret_cast<u64 *>(reals + size);
  u16 *shorts = reinterpret_cast<u16 *>(longs + size);
  u8 *bytes = reinterpret_cast<u8 *>(shorts + size);
  bool *flags = reinterpret_cast<bool *>(bytes + size);
  const u8 value = i < n ? in[i] : 0;
  bytes[size - 1 - l] = value;
  shorts[l] = u16(value * 300);
  flags[l] = value > 99;
  longs[(l + 1) % size] = u64(value) << 35;
  reals[l] = value / 4.0;
  sycl::group_barrier(it.get_group());
  const int other = (l * 5 + 2) % size;
  if (i < n) out[i] = reals[other] + double(longs[other] >> 30) + shorts[(other + 1) % size] - (flags[other] ? bytes[other] : bytes[l]);
}

KERNEL(3) linear_ids(u32 *out, int n) {
  ITEM(3);
  const auto group = it.get_group();
  const auto sub = it.get_sub_group();
  const u32 at = it.get_global_linear_id();
  u32 *to = out + at * 10;
  to[0] = it.get_local_linear_id();
  to[1] = it.get_group_linear_id();
  to[2] = it.get_global_id(0) << 20 | it.get_global_id(1) << 10 | it.get_global_id(2);
  to[3] = it.get_local_id(0) << 20 | it.get_local_id(1) << 10 | it.get_local_id(2);
  to[4] = it.get_group(0) << 20 | it.get_group(1) << 10 | it.get_group(2);
  to[5] = group.get_local_linear_range();
  to[6] = group.get_group_linear_range();
  to[7] = sub.get_group_linear_id() * sub.get_max_local_range()[0] + sub.get_local_linear_id();
  to[8] = it.get_global_range(0) << 20 | it.get_global_range(1) << 10 | it.get_global_range(2);
  to[9] = group.leader() << 1 | (sub.get_local_linear_range() <= sub.get_max_local_range()[0]);
}

// --- wide and narrow integers --------------------------------------------------------------------

// Products of 256 bits in words of 32.
KERNEL(1) long_products(const u32 *a, const u32 *b, u32 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u32 x[8], y[8], z[16] = {};
  for (int k = 0; k < 8; ++k) x[k] = a[k * n + i], y[k] = b[k * n + i];
  for (int j = 0; j < 8; ++j) {
    u32 carry = 0;
    for (int k = 0; k < 8; ++k) {
      const u64 t = u64(x[j]) * y[k] + z[j + k] + carry;
      z[j + k] = u32(t);
      carry = u32(t >> 32);
    }
    z[j + 8] = carry;
  }
  for (int k = 0; k < 16; ++k) out[k * n + i] = z[k];
}
// A number-theoretic transform of 64 points in local memory, modulo 2^64 - 2^32 + 1.
static u64 reduced(u64 high, u64 low) {
  constexpr u64 p = 0xffffffff00000001ull;
  const u64 top = high >> 32, middle = high & 0xffffffff;
  u64 t = low - top;
  if (low < top) t -= 0xffffffff;
  const u64 add = middle * 0xffffffff;
  u64 sum = t + add;
  if (sum < t) sum += 0xffffffff;
  return sum >= p ? sum - p : sum;
}
static u64 times(u64 a, u64 b) { return reduced(sycl::mul_hi(a, b), a * b); }
KERNEL(1) transform_modulo(const u64 *in, u64 *out, u64 root, local_accessor<u64, 1> x) {
  ITEM(1);
  constexpr u64 p = 0xffffffff00000001ull;
  const int l = it.get_local_id(0), from = it.get_group(0) * 64;
  x[l] = in[from + l];
  x[l + 32] = in[from + l + 32];
  for (int half = 1; half < 64; half *= 2) {
    sycl::group_barrier(it.get_group());
    const int k = l & (half - 1), to = 2 * l - k;
    u64 w = 1, power = root;
    for (int e = k * (32 / half); e; e >>= 1) {
      if (e & 1) w = times(w, power);
      power = times(power, power);
    }
    const u64 a = x[l], b = times(x[l + 32], w);
    sycl::group_barrier(it.get_group());
    u64 sum = a + b;
    if (sum < a || sum >= p) sum -= p;
    x[to] = sum;
    x[to + half] = a >= b ? a - b : a + (p - b);
  }
  sycl::group_barrier(it.get_group());
  out[from + l] = x[l];
  out[from + l + 32] = x[l + 32];
}
template <class T> static T divided(T a, T b) { return T(a / b * 7 + a % b); }
KERNEL(1) divisions(const i64 *a, const i64 *b, i64 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const i64 x = a[i], y = b[i];
  i64 *to = out + i;
  auto put = [&](i64 value) { *to = value, to += n; };
  // Never the one quotient that overflows: the divisor is 1 or more, or less than -1.
  auto fit = [](auto d) { return decltype(d)(d == 0 || d == decltype(d)(-1) ? 3 : d); };
  put(divided(std::int8_t(x), fit(std::int8_t(y))));
  put(divided(u8(x), fit(u8(y))));
  put(divided(short(x), fit(short(y))));
  put(divided(u16(x), fit(u16(y))));
  put(divided(int(x), fit(int(y))));
  put(divided(u32(x), fit(u32(y))));
  put(divided(x, fit(y)));
  put(i64(divided(u64(x), fit(u64(y)))));
  put(i64(u64(x) / 1000003 ^ u64(x) % 10));
  put(x / -12345 + x % 1000);
  put(sycl::max(x, y) - (x >> (y & 63)));
  const sycl::short4 v(x, x >> 16, x >> 32, x >> 48), w(fit(short(y)), fit(short(y >> 16)), fit(short(y >> 32)), fit(short(y >> 48)));
  const sycl::short4 q = v / w + v % w;
  put(q[0] ^ i64(q[1]) << 16 ^ i64(q[2]) << 32 ^ i64(q[3]) << 48);
}
// Myers' edit distance: a column of 64 differences in a word.
KERNEL(1) edit_distance(const char *patterns, const char *text, int length, int *out, int n) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= n) return;
  u64 is[4] = {};
  for (int k = 0; k < 64; ++k) is[patterns[which * 64 + k] & 3] |= u64(1) << k;
  u64 plus = ~u64(0), minus = 0;
  int score = 64, best = 64;
  for (int j = 0; j < length; ++j) {
    const u64 equal = is[text[(which + j) % length] & 3], x = equal | minus;
    const u64 d = (((x & plus) + plus) ^ plus) | x;
    u64 up = minus | ~(d | plus), down = plus & d;
    score += up >> 63 ? 1 : 0;
    score -= down >> 63 ? 1 : 0;
    up = up << 1 | 1;
    down <<= 1;
    plus = down | ~(d | up);
    minus = up & d;
    best = sycl::min(best, score);
  }
  out[which] = score * 1000 + best;
}
KERNEL(1) dot_products(const u32 *a, const u32 *b, int *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  int sum = sycl::ext::oneapi::dot_acc(int(a[i]), int(b[i]), 5);
  sum = sycl::ext::oneapi::dot_acc(a[i], b[i], sum);
  sum = sycl::ext::oneapi::dot_acc(int(a[i]), b[i], sum);
  out[i] = sycl::ext::oneapi::dot_acc(sycl::bit_cast<sycl::char4>(b[i]), sycl::bit_cast<sycl::char4>(a[i]), sum);
}
// Determinants without fractions.
KERNEL(1) determinants(const int *in, i64 *out, int n) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= n) return;
  i64 a[5][5], last = 1;
  int sign = 1;
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 5; ++c) a[r][c] = in[(r * 5 + c) * n + which];
  for (int k = 0; k < 4; ++k) {
    int pivot = k;
    while (pivot < 5 && a[pivot][k] == 0) ++pivot;
    if (pivot == 5) {
      out[which] = 0;
      return;
    }
    if (pivot != k) {
      sign = -sign;
      for (int c = 0; c < 5; ++c) {
        const i64 t = a[k][c];
        a[k][c] = a[pivot][c];
        a[pivot][c] = t;
      }
    }
    for (int r = k + 1; r < 5; ++r)
      for (int c = k + 1; c < 5; ++c) a[r][c] = (a[r][c] * a[k][k] - a[r][k] * a[k][c]) / last;
    last = a[k][k];
  }
  out[which] = sign * a[4][4];
}

// --- bytes and bits ------------------------------------------------------------------------------

// Codes of one to nine bits from a stream.
KERNEL(1) unpack_codes(const u32 *stream, const u32 *starts, const u16 *table, u8 *out, int lists, int length) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= lists) return;
  u32 at = starts[which];
  for (int i = 0; i < length; ++i) {
    const u64 two = u64(stream[at / 32 + 1]) << 32 | stream[at / 32];
    const u16 entry = table[(two >> (at & 31)) & 511];
    out[which * length + i] = u8(entry);
    at += entry >> 8;
  }
}
KERNEL(1) base64(const u8 *in, char *out, int n) {
  ITEM(1);
  static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const int i = it.get_global_id(0), at = 3 * i;
  if (at >= n) return;
  const int left = n - at;
  const u32 three = u32(in[at]) << 16 | (left > 1 ? u32(in[at + 1]) << 8 : 0) | (left > 2 ? in[at + 2] : 0);
  for (int k = 0; k < 4; ++k) out[4 * i + k] = k <= left ? letters[three >> (18 - 6 * k) & 63] : '=';
}
// Is it UTF-8? The kinds of bytes by comparisons, a state for each work-item.
KERNEL(1) utf8(const u8 *in, const int *starts, int *bad, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  int more = 0, wrong = -1;
  u32 low = 0x80, high = 0xbf;
  for (int at = starts[i]; at < starts[i + 1]; ++at) {
    const u8 b = in[at];
    if (more) {
      if (b < low || b > high) {
        wrong = at - starts[i];
        break;
      }
      low = 0x80, high = 0xbf, --more;
    } else if (b >= 0x80) {
      if (b < 0xc2 || b > 0xf4) {
        wrong = at - starts[i];
        break;
      }
      more = b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3;
      if (b == 0xe0) low = 0xa0;
      if (b == 0xed) high = 0x9f;
      if (b == 0xf0) low = 0x90;
      if (b == 0xf4) high = 0x8f;
    }
  }
  bad[i] = wrong < 0 && more ? -2 : wrong;
}
KERNEL(2) median(const u8 *in, u8 *out, int rows, int columns) {
  ITEM(2);
  const int y = it.get_global_id(0), x = it.get_global_id(1);
  if (y >= rows || x >= columns) return;
  u8 v[9];
  for (int d = 0; d < 9; ++d) v[d] = in[sycl::clamp(y + d / 3 - 1, 0, rows - 1) * columns + sycl::clamp(x + d % 3 - 1, 0, columns - 1)];
  for (int end = 8; end >= 4; --end)
    for (int k = 0; k < end; ++k) {
      const u8 low = sycl::min(v[k], v[k + 1]), high = sycl::max(v[k], v[k + 1]);
      v[k] = low, v[k + 1] = high;
    }
  out[y * columns + x] = v[4];
}
KERNEL(1) sieve(u8 *out, int n, local_accessor<bool, 1> marked) {
  ITEM(1);
  const int l = it.get_local_id(0), size = it.get_local_range(0), span = 4 * size, from = it.get_group(0) * span;
  for (int i = l; i < span; i += size) marked[i] = from + i < 2;
  sycl::group_barrier(it.get_group());
  for (int p = 2 + l; p * p < from + span; p += size)
    for (int m = sycl::max(p * p, (from + p - 1) / p * p); m < from + span; m += p) marked[m - from] = true;
  sycl::group_barrier(it.get_group());
  for (int i = l; i < span; i += size)
    if (from + i < n) out[from + i] = !marked[i];
}
KERNEL(1) twister(u32 *out, u32 seed, int n, local_accessor<u32, 1> state) {
  ITEM(1);
  const int l = it.get_local_id(0), size = it.get_local_range(0);
  if (l == 0) {
    state[0] = seed + it.get_group(0);
    for (int i = 1; i < 624; ++i) state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
  }
  sycl::group_barrier(it.get_group());
  auto mixed = [](u32 a, u32 b) { return (((a & 0x80000000u) | (b & 0x7fffffffu)) >> 1) ^ (b & 1 ? 0x9908b0dfu : 0); };
  for (int done = 0; done < n; done += 624) {
    // In parts that need nothing of themselves.
    static constexpr int parts[] = {0, 227, 454, 623, 624};
    for (int part = 0; part < 4; ++part) {
      for (int from = parts[part]; from < parts[part + 1]; from += size) {
        const int i = from + l;
        u32 next = 0;
        if (i < parts[part + 1]) next = state[(i + 397) % 624] ^ mixed(state[i], state[(i + 1) % 624]);
        sycl::group_barrier(it.get_group());
        if (i < parts[part + 1]) state[i] = next;
        sycl::group_barrier(it.get_group());
      }
    }
    for (int i = l; i < 624 && done + i < n; i += size) {
      u32 y = state[i];
      y ^= y >> 11;
      y ^= y << 7 & 0x9d2c5680u;
      y ^= y << 15 & 0xefc60000u;
      out[it.get_group(0) * n + done + i] = y ^ y >> 18;
    }
    sycl::group_barrier(it.get_group());
  }
}

// --- trees, strings, queues ----------------------------------------------------------------------

// The nearest point of a tree with a stack of the nodes left to visit.
struct Node {
  int at[3];
  int axis;
};
KERNEL(1) nearest_in_tree(const Node *tree, int nodes, const int *queries, int *found, u64 *distance, int n) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= n) return;
  int q[3], stack[32], top = 0, best = -1;
  u64 least = ~u64(0);
  for (int d = 0; d < 3; ++d) q[d] = queries[d * n + which];
  stack[top++] = 0;
  while (top) {
    const int at = stack[--top];
    if (at >= nodes) continue;
    const Node node = tree[at];
    u64 away = 0;
    for (int d = 0; d < 3; ++d) away += u64(i64(node.at[d] - q[d]) * (node.at[d] - q[d]));
    if (away < least || (away == least && at < best)) least = away, best = at;
    const i64 along = q[node.axis] - node.at[node.axis];
    const int near = along < 0 ? 2 * at + 1 : 2 * at + 2;
    if (u64(along * along) <= least) stack[top++] = 4 * at + 3 - near;
    stack[top++] = near;
  }
  found[which] = best;
  distance[which] = least;
}
// Short strings of each work-item sorted by insertion.
KERNEL(1) sort_strings(char *strings, int lists) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= lists) return;
  char mine[6][8];
  char *from = strings + which * 48;
  for (int i = 0; i < 6; ++i) {
    char one[8];
    for (int k = 0; k < 8; ++k) one[k] = from[i * 8 + k];
    auto less = [&](const char *a, const char *b) {
      while (*a && *a == *b) ++a, ++b;
      return *a < *b;
    };
    int at = i;
    for (; at > 0 && less(one, mine[at - 1]); --at)
      for (int k = 0; k < 8; ++k) mine[at][k] = mine[at - 1][k];
    for (int k = 0; k < 8; ++k) mine[at][k] = one[k];
  }
  for (int i = 0; i < 48; ++i) from[i] = mine[i / 8][i % 8];
}
// Those that qualify are appended, with one atomic operation for each sub-group.
KERNEL(1) append_by_sub_group(const int *in, int n, int *out, int *count) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0);
  const bool wanted = i < n && in[i] % 3 == 0;
  const int before = sycl::exclusive_scan_over_group(sub, int(wanted), sycl::plus<>());
  const int all = sycl::reduce_over_group(sub, int(wanted), sycl::plus<>());
  int base = 0;
  if (all && sub.leader()) base = relaxed<int>(*count).fetch_add(all);
  base = sycl::group_broadcast(sub, base);
  if (wanted) out[base + before] = in[i];
}

// --- groups of other types and kinds -------------------------------------------------------------

KERNEL(1) reductions_of_types(const int *in, double *out, int n) {
  ITEM(1);
  auto group = it.get_group();
  const int i = it.get_global_id(0), x = i < n ? in[i] : 0;
  double *to = out + it.get_group(0) * 13;
  auto put = [&](double value) {
    if (group.leader()) *to = value;
    ++to;
  };
  put(sycl::reduce_over_group(group, std::int8_t(x), sycl::plus<std::int8_t>()));
  put(sycl::reduce_over_group(group, u8(x), sycl::maximum<u8>()));
  put(sycl::reduce_over_group(group, short(x), sycl::minimum<short>()));
  put(double(sycl::reduce_over_group(group, i64(x) << 20, sycl::plus<i64>())));
  put(double(sycl::reduce_over_group(group, u64(x) | 1, sycl::multiplies<u64>()) >> 12));
  put(float(sycl::reduce_over_group(group, sycl::half(x & 7), sycl::maximum<sycl::half>())));
  put(sycl::reduce_over_group(group, float(x & 1023), sycl::plus<float>()));
  put(sycl::reduce_over_group(group, double(x) / 4, sycl::plus<double>()));
  put(sycl::reduce_over_group(group, x > -900, sycl::logical_and<bool>()));
  put(sycl::reduce_over_group(group, x > 900, sycl::logical_or<bool>()));
  const sycl::float4 four = sycl::reduce_over_group(group, sycl::float4(x, x & 3, 1, -x), sycl::plus<sycl::float4>());
  put(four[0] + four[1] * 2 + four[2] * 4 - four[3]);
  put(sycl::group_broadcast(group, double(x) * 1.5, it.get_local_range(0) / 2));
  const auto pair = sycl::group_broadcast(group, sycl::int2(x, -x), 0);
  put(pair[0] - pair[1]);
}
KERNEL(1) chunks(const int *in, int *out, int n) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0), x = in[i % n];
  auto four = ex::chunked_partition<4>(sub);
  const int sum = sycl::reduce_over_group(four, x, sycl::plus<>());
  const int before = sycl::exclusive_scan_over_group(four, x, sycl::plus<>());
  const int most = sycl::reduce_over_group(four, x, sycl::maximum<>());
  const int last = sycl::group_broadcast(four, x, 3);
  const bool any = sycl::any_of_group(four, x < 20);
  out[i] = sum * 3 + before * 5 + most * 7 + last * 11 + any + int(four.get_local_linear_id()) * 1000000;
}
// Members with the same bit form a group.
KERNEL(1) fragments(const int *in, int *out, int n) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0), x = in[i % n];
  auto alike = ex::binary_partition(sub, x % 3 == 0);
  const int sum = sycl::reduce_over_group(alike, x, sycl::plus<>());
  out[i] = sum * 64 + int(alike.get_local_linear_range());
}
// Members of a sub-group that are in the same turn of a loop, which each leaves when it likes.
KERNEL(1) tangles(const int *in, int *out, int n) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0), x = in[i % n];
  int sum = 0;
  for (int turn = 0; turn < x % 6; ++turn) {
    auto together = ex::entangle(sub);
    const int most = sycl::reduce_over_group(together, x, sycl::maximum<>());
    sum = sum * 3 + most + int(together.get_local_linear_range());
    if (x % 11 == turn) continue;
    sum ^= turn << 8;
  }
  if (x % 3 != 1) {
    auto together = ex::entangle(sub);
    sum += 100000 * sycl::exclusive_scan_over_group(together, 1, sycl::plus<>());
  }
  out[i] = sum;
}
KERNEL(1) sorts(const int *in, int *over, int *joint, int n, local_accessor<int, 1> scratch) {
  ITEM(1);
  auto group = it.get_group();
  const int i = it.get_global_id(0), size = it.get_local_range(0), from = it.get_group(0) * size;
  const auto room = sycl::span<std::byte>(reinterpret_cast<std::byte *>(&scratch[0]), scratch.size() * sizeof(int));
  over[i] = ex::sort_over_group(ex::group_with_scratchpad(group, room), in[i % n], std::less<int>());
  joint[i] = in[i % n];
  sycl::group_barrier(group);
  ex::joint_sort(ex::group_with_scratchpad(group, room), joint + from, joint + from + size, std::greater<int>());
}
KERNEL(1) load_and_store(const int *in, int *out) {
  ITEM(1);
  auto group = it.get_group();
  int four[4];
  const int at = it.get_group(0) * it.get_local_range(0) * 4;
  ex::group_load(group, in + at, sycl::span<int, 4>(four, 4), ex::properties{ex::data_placement_striped});
  for (int &v : four) v = v * 2 + int(it.get_local_id(0));
  ex::group_store(group, sycl::span<int, 4>(four, 4), out + at, ex::properties{ex::data_placement_blocked});
}
KERNEL(1) local_atomics(const int *in, int n, float *floats, u64 *longs, int *ints, local_accessor<float, 1> f, local_accessor<u64, 1> l,
                        local_accessor<int, 1> k) {
  ITEM(1);
  const int i = it.get_global_id(0), g = it.get_group(0), at = it.get_local_id(0), size = it.get_local_range(0);
  for (int j = at; j < 4; j += size) f[j] = 0, l[j] = 0, k[j] = j == 1 ? -1 : 0;
  sycl::group_barrier(it.get_group());
  if (i < n) {
    const int x = in[i];
    relaxed_local<float>(f[0]).fetch_add(float(x & 63));
    relaxed_local<float>(f[1]).fetch_min(float(-x));
    relaxed_local<float>(f[2]).fetch_max(float(x) / 2);
    relaxed_local<u64>(l[0]).fetch_max(u64(u32(x)) << 17);
    relaxed_local<u64>(l[1]).fetch_xor(u64(x) << 9);
    relaxed_local<int>(k[0]).fetch_or(x);
    relaxed_local<int>(k[1]).fetch_and(x | 0xff);
    // A product modulo a prime by compare and exchange.
    relaxed_local<u64> product(l[2]);
    u64 seen = product.load(), next;
    do next = (seen ? seen : 1) * u64(x & 1023 | 1) % 1000003;
    while (!product.compare_exchange_weak(seen, next));
    if (x % 4 == 0) relaxed_local<int>(k[2]).fetch_add(1);
    // A float's maximum by its bits.
    relaxed_local<int>(k[3]).fetch_max(sycl::bit_cast<int>(float(x & 0xfff) / 3));
  }
  sycl::group_barrier(it.get_group());
  for (int j = at; j < 4; j += size) floats[4 * g + j] = f[j], longs[4 * g + j] = l[j], ints[4 * g + j] = k[j];
}

// --- numbers -------------------------------------------------------------------------------------

KERNEL(1) more_conversions(const i64 *in, float *floats, double *doubles, sycl::half *halves, int *ints, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const i64 x = in[i];
  floats[i] = float(x);
  floats[n + i] = float(u64(x));
  floats[2 * n + i] = float(int(x));
  floats[3 * n + i] = float(u32(x));
  floats[4 * n + i] = float(double(x) * 0x1p-70);
  doubles[i] = double(x);
  doubles[n + i] = double(u64(x));
  halves[i] = sycl::half(float(short(x)));
  halves[n + i] = sycl::half(double(x) * 0x1p-61);
  const float f = float(int(x)) / 1024;
  ints[i] = int(f);
  ints[n + i] = sycl::vec<float, 1>(f).convert<int, sycl::rounding_mode::rte>()[0];
  ints[2 * n + i] = u8(sycl::vec<float, 1>(sycl::clamp(f, 0.0f, 255.0f)).convert<u8, sycl::rounding_mode::rte>()[0]);
  ints[3 * n + i] = int(sycl::half(float(x % 2000)));
  ints[4 * n + i] = sycl::isnormal(floats[4 * n + i]) << 2 | sycl::signbit(f) << 1 | (f != f);
}
// Numbers below the smallest normal one.
KERNEL(1) subnormals(const float *a, const float *b, float *out, double *wide, int n) {
#pragma clang fp contract(off)
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  out[i] = a[i] * b[i];
  out[n + i] = a[i] + b[i] * 0x1p-100f;
  out[2 * n + i] = sycl::fmax(a[i], -b[i]);
  out[3 * n + i] = sycl::ldexp(b[i], -140);
  wide[i] = double(a[i]) * 0x1p-960;
  wide[n + i] = double(a[i]) * 0x1p-960 * 0x1p-20;
}
// Perlin's noise: a table of permutations, gradients by bits.
KERNEL(2) noise(const u8 *table, float *out, int rows, int columns, float scale) {
  ITEM(2);
  const int r = it.get_global_id(0), c = it.get_global_id(1);
  if (r >= rows || c >= columns) return;
  const float x = float(c) * scale, y = float(r) * scale * 1.5f - 9;
  const float fx = sycl::floor(x), fy = sycl::floor(y), u = x - fx, v = y - fy;
  const int ix = int(fx) & 255, iy = int(fy) & 255;
  auto gradient = [&](int dx, int dy) {
    const u8 h = table[(table[(ix + dx) & 255] + iy + dy) & 255];
    const float a = u - dx, b = v - dy;
    return (h & 1 ? -a : a) + (h & 2 ? -2 * b : 2 * b);
  };
  const float s = u * u * u * (u * (u * 6 - 15) + 10), t = v * v * v * (v * (v * 6 - 15) + 10);
  const float top = sycl::mix(gradient(0, 0), gradient(1, 0), s), bottom = sycl::mix(gradient(0, 1), gradient(1, 1), s);
  out[r * columns + c] = sycl::mix(top, bottom, t);
}
// Tridiagonal systems by parallel cyclic reduction, one for each group.
KERNEL(1) tridiagonal(const double *in, double *out, int n, local_accessor<double, 2> x) {
  ITEM(1);
  const int l = it.get_local_id(0), g = it.get_group(0);
  for (int k = 0; k < 4; ++k) x[k][l] = l < n ? in[(4 * g + k) * n + l] : k == 1;
  sycl::group_barrier(it.get_group());
  for (int d = 1; d < n; d *= 2) {
    const bool before = l >= d, after = l + d < n;
    const double up = before ? x[0][l] / x[1][l - d] : 0, down = after ? x[2][l] / x[1][l + d] : 0;
    const double a = before ? -x[0][l - d] * up : 0, c = after ? -x[2][l + d] * down : 0;
    const double b = x[1][l] - (before ? x[2][l - d] * up : 0) - (after ? x[0][l + d] * down : 0);
    const double r = x[3][l] - (before ? x[3][l - d] * up : 0) - (after ? x[3][l + d] * down : 0);
    sycl::group_barrier(it.get_group());
    if (l < n) x[0][l] = a, x[1][l] = b, x[2][l] = c, x[3][l] = r;
    sycl::group_barrier(it.get_group());
  }
  if (l < n) out[g * n + l] = x[3][l] / x[1][l];
}
// A tree of prices: each step uses one leaf less.
KERNEL(1) binomial(const float *strikes, float *out, int steps, local_accessor<float, 1> leaves) {
  ITEM(1);
  const int l = it.get_local_id(0), size = it.get_local_range(0), g = it.get_group(0);
  const float strike = strikes[g];
  for (int i = l; i <= steps; i += size) leaves[i] = sycl::fmax(float(i) * 2 - strike, 0.0f);
  for (int left = steps; left > 0; --left) {
    for (int from = 0; from < left; from += size) {
      sycl::group_barrier(it.get_group());
      const int i = from + l;
      const float low = i < left ? leaves[i] : 0, high = i < left ? leaves[i + 1] : 0;
      sycl::group_barrier(it.get_group());
      if (i < left) leaves[i] = 0.4375f * high + 0.5f * low;
    }
  }
  sycl::group_barrier(it.get_group());
  if (l == 0) out[g] = leaves[0];
}
// A tile of 4 x 4 sums in registers.
KERNEL(2) product_registers(const double *a, const double *b, double *c, int n) {
  ITEM(2);
  const int row = it.get_global_id(0) * 4, column = it.get_global_id(1) * 4;
  double sums[4][4] = {};
  if (row >= n || column >= n) return;
  for (int k = 0; k < n; ++k) {
    double x[4], y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[i] = row + i < n ? a[(row + i) * n + k] : 0;
      y[i] = column + i < n ? b[k * n + column + i] : 0;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row + i < n && column + j < n) c[(row + i) * n + column + j] = sums[i][j];
}
// Spins on a checkerboard: neighbours of one colour do not change.
KERNEL(1) spins(std::int8_t *lattice, u32 *state, int side, int colour) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= side * side / 2) return;
  const int y = i / (side / 2), x = i % (side / 2) * 2 + ((y + colour) & 1);
  auto at = [&](int r, int c) { return lattice[(r + side) % side * side + (c + side) % side]; };
  const int around = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1), now = at(y, x);
  static constexpr u32 chance[] = {0xffffffff, 0x80000000, 0x10000000};
  u32 &s = state[y * side + x];
  s = s * 1664525u + 1013904223u;
  const int cost = now * around;
  if (cost <= 0 || s < chance[cost / 2]) lattice[y * side + x] = std::int8_t(-now);
}
