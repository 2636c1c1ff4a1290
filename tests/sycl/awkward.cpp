// Kernels that are rare in benchmarks and hard for a compiler that runs work-items side by side (awkward_kernels.cpp), each
// beside plain C++ on the host.
#include "harness.hpp"

using i64 = std::int64_t;

// --- control flow --------------------------------------------------------------------------------

static Vector<u32> some_words(int n, u64 seed) {
  Random random{seed};
  Vector<u32> values(n);
  for (u32 &v : values) v = u32(random.next());
  return values;
}
static u32 turned(u32 value, u32 by) { return by & 31 ? value << (by & 31) | value >> (32 - (by & 31)) : value; }

static void duff() {
  const int n = 1009;
  const Vector<u32> in = some_words(n, 1);
  Vector<u32> want;
  for (u32 h : in) {
    u32 turns = (h % 29) / 4 + 1;
    for (int at = int(4 - (h & 3)) % 4;; at = 0) {
      if (at <= 0) h = h * 31 + 1;
      if (at <= 1) h ^= h >> 7;
      if (at <= 2) h += turns;
      h = turned(h, 3);
      if (--turns == 0) break;
    }
    want.push_back(h);
  }
  Array<u32> source(in), out(n);
  run("duff", n, any(64), source, out, n);
  same("duff", out.get(), want);
}

static void jumps() {
  const int n = 1013;
  const Vector<u32> in = some_words(n, 2);
  Vector<u32> want;
  for (u32 x : in) {
    u32 steps = 0;
    for (bool odd = x & 1, done = false; !done;) {
      if (!odd) {
        x = x / 2 + 7;
        if (++steps > 60) done = true;
        else if (x & 4) continue;
        else if (x % 5 == 0) done = true;
        else odd = true;
      } else {
        x = x * 3 + 1;
        if (++steps > 50) done = true;
        else if (x % 3 != 0 && x & 2) odd = false;
        else if (x & 8) continue;
        else if (steps < 9) odd = false;
        else done = true;
      }
    }
    want.push_back(x ^ steps << 24);
  }
  Array<u32> source(in), out(n);
  run("jumps", n, any(48), source, out, n);
  same("jumps", out.get(), want);
}

static void barrier_loops() {
  const int n = 700, size = int(any(36)), groups = (n + size - 1) / size;
  Vector<int> want(groups * size);
  for (int g = 0; g < groups; ++g) {
    Vector<int> value(size), shared(size);
    for (int l = 0; l < size; ++l) value[l] = g % 4 == 3 ? -1 : g * size + l;
    for (int a = 0; g % 4 != 3 && a < 3 + g % 3; ++a) {
      if ((a + g) % 3 == 1) continue;
      for (int b = 0;; ++b) {
        for (int l = 0; l < size; ++l) shared[l] = int(u32(value[l]) + u32(a));
        if (b == 2 && g % 2) break;
        for (int l = 0; l < size; ++l) value[l] = int(u32(value[l]) * 3 + u32(shared[(l + 1) % size] ^ b));
        if (shared[0] % 5 == 0 || b == 4) break;
        if ((g + b) % 3 == 0) {
          for (int l = 0; l < size; ++l) shared[size - 1 - l] = value[l];
          for (int l = 0; l < size; ++l) value[l] = int(u32(value[l]) + u32(shared[l]));
        }
        for (int l = 0; l < size; ++l)
          if ((g + b) % 3 == 1) value[l] ^= 0x55;
          else if ((g + b) % 3 == 2 && l % 3 == 0) value[l] = int(u32(value[l]) - u32(l));
      }
    }
    std::copy(value.begin(), value.end(), want.begin() + g * size);
  }
  want.resize(n);
  Array<int> out(n);
  run("barrier_loops", n, size, out, n, local<int>(size));
  same("values", out.get(), want);
}

static void wrapping_loops() {
  const int n = 500;
  Random random{4};
  Vector<u8> from(n), to(n);
  for (u8 &v : from) v = u8(random.next());
  for (u8 &v : to) v = u8(random.next());
  Vector<u32> want;
  for (int i = 0; i < n; ++i) {
    u32 sum = 0;
    for (int c = from[i]; c % 256 != to[i]; ++c) sum = sum * 3 + u32(c % 256);
    for (int c = std::int8_t(from[i]); c > -100; c = std::int8_t(u8(c - 37))) sum += u32(c) * 5;
    u32 wide = u32(to[i]) << 8;
    for (int turns = 0; turns < 40 && wide; ++turns) wide = (wide * 5 + 0x100) & 0xffff, sum ^= wide;
    for (u64 c = u64(from[i]) << 40; c < u64(from[i] + 7) << 40; c += u64(3) << 38) sum += u32(c >> 32);
    want.push_back(sum);
  }
  Array<u8> f(from), t(to);
  Array<u32> out(n);
  run("wrapping_loops", n, any(50), f, t, out, n);
  same("sums", out.get(), want);
}

static void fetch_work() {
  const int n = 900;
  Vector<u32> want;
  for (int i = 0; i < n; ++i) {
    u32 count = 0;
    for (u64 x = u64(i) + 1; x != 1; ++count) x = x & 1 ? 3 * x + 1 : x / 2;
    want.push_back(count);
  }
  Array<int> counter(1, 0);
  Array<u32> steps(n), done(1, 0);
  const std::size_t group = any(24);
  run("fetch_work", 4 * group, group, counter, steps, done, n);
  same("steps", steps.get(), want);
  same("done", done.get(), {u32(n)});
}

static void locks() {
  const int groups = 13, turns = 7;
  Array<int> lock(1, 0);
  Array<u64> plain(3, 0);
  const std::size_t group = any(20);
  run("locks", groups * group, group, lock, plain, turns);
  const Vector<u64> got = plain.get();
  const u64 sum = u64(groups) * (groups + 1) / 2 * turns;
  same("data behind a lock", {got[0], got[2]}, Vector<u64>{sum, 3 * sum});
}

static bool solve(u8 *cells, int &tries) {
  int c = 0;
  while (c < 81 && cells[c]) ++c;
  if (c == 81) return true;
  for (u8 digit = 1; digit <= 9; ++digit) {
    bool free = true;
    for (int k = 0; k < 81; ++k)
      if (cells[k] == digit && (k / 9 == c / 9 || k % 9 == c % 9 || (k / 27 == c / 27 && k % 9 / 3 == c % 9 / 3))) free = false;
    if (!free) continue;
    ++tries;
    cells[c] = digit;
    if (solve(cells, tries)) return true;
    cells[c] = 0;
  }
  ++tries;
  return false;
}
static void sudoku() {
  const int n = 40;
  Random random{7};
  Vector<u8> puzzles(n * 81), want;
  Vector<int> tries;
  for (int p = 0; p < n; ++p) {
    u8 *cells = &puzzles[p * 81];
    for (int c = 0; c < 81; ++c) cells[c] = u8((c / 9 * 3 + c / 27 + c % 9 + p) % 9 + 1);
    for (int hole = 0; hole < 36 + p % 5; ++hole) cells[random.below(81)] = 0;
    Vector<u8> copy(cells, cells + 81);
    int count = 0;
    if (!solve(copy.data(), count)) complain("the reference is wrong");
    want.insert(want.end(), copy.begin(), copy.end());
    tries.push_back(count);
  }
  Array<u8> source(puzzles), out(n * 81);
  Array<int> counts(n);
  run("sudoku", n, any(12), source, out, counts, n);
  same("solved", out.get(), want);
  same("tries", counts.get(), tries);
}

// --- calls, pointers, layout ---------------------------------------------------------------------

static void calls() {
  struct Pair {
    i64 sum;
    int count;
    short few[3];
  };
  const int n = 311, size = int(any(40)), items = (n + size - 1) / size * size;
  Random random{8};
  Vector<Pair> in(n);
  for (auto &p : in) p = {i64(random.next()) >> 20, int(random.below(100)), {short(random.next()), short(random.next()), short(random.next())}};
  Vector<Pair> sums(items, Pair{1, 2, {3, 4, 5}});
  Vector<int> told(items);
  for (int j = 0; j < 5; ++j) {
    for (int i = 0; i < items; ++i) {
      const Pair &one = in[(i * 3 + j) % n];
      if (one.sum % 2 == 0) continue;
      told[i] += one.count;
      for (int k = 0; k < 3; ++k) sums[i].few[k] = short(sums[i].few[k] * 2 + one.few[2 - k]);
      sums[i].sum += one.sum, ++sums[i].count;
    }
    const Vector<int> before = told;
    for (int i = 0; i < items; ++i) told[i] = before[i / size * size + (i % size + 7) % size] + j;
  }
  Array<Pair> source(in), out(n);
  run("calls", n, size, source, out, n, local<int>(size));
  Vector<i64> got, want;
  for (const Pair &p : out.get()) got.insert(got.end(), {p.sum, p.count, p.few[0], p.few[1], p.few[2]});
  for (int i = 0; i < n; ++i)
    want.insert(want.end(), {sums[i].sum, sums[i].count + told[i], sums[i].few[0], sums[i].few[1], sums[i].few[2]});
  same("pairs", got, want);
}

static void pointer_kinds() {
  const int n = 401;
  Vector<u32> memory = some_words(4 * n, 9), want;
  Array<u32> array(memory), out(n);
  for (int i = 0; i < n; ++i) {
    u32 mine[4] = {u32(i), u32(i) * 3, 7, 9}, shared[4];
    for (int k = 0; k < 4; ++k) shared[k] = u32(i + k) * 11;
    auto walk = [](u32 *at, int length, u32 by) {
      u32 sum = 0;
      for (int k = 0; k < length; ++k) sum = sum * 5 + at[k], at[k] += by;
      return sum;
    };
    u32 *const third = &memory[4 * i], *at = i % 3 == 0 ? mine : i % 3 == 1 ? shared : third;
    const u32 first = walk(at, 4, u32(i));
    if (i % 2) at = mine;
    for (int turn = 0; turn < i % 5; ++turn) at = at == mine ? third : mine;
    const u32 second = walk(at, 1 + i % 4, 1);
    (i % 7 < 3 ? third[1] : shared[2]) += 5;
    const u32 a = walk(mine, 4, 0), b = walk(shared, 4, 0);
    want.push_back(first ^ second * 3 ^ a * 7 ^ b * 11);
  }
  const std::size_t group = any(28);
  run("pointer_kinds", n, group, array, out, n, local<u32>(4 * group));
  same("sums", out.get(), want);
  same("memory", array.get(), memory);
}

static void layouts() {
  const int n = 300;
  Random random{10};
  Vector<u8> bytes(5 * n + 8), packed(15 * n);
  Vector<float> reals(n);
  for (u8 &b : bytes) b = u8(random.next());
  for (float &r : reals) r = float(random.real(-100, 100));
  for (int i = 0; i < n; ++i) {
    const u32 word = u32(random.next());
    const double real = random.real(-5, 5);
    std::memcpy(&packed[15 * i + 1], &word, 4);
    std::memcpy(&packed[15 * i + 5], &real, 8);
  }
  Array<u8> b(bytes), p(packed);
  Array<float> r(reals);
  Array<u64> out(n);
  Vector<u64> want;
  for (int i = 0; i < n; ++i) {
    u32 raw = 0, word;
    for (int k = 0; k < 4; ++k) raw |= u32(bytes[5 * i + 1 + k]) << (8 * k);
    const u32 low = raw & 31, middle = ((raw >> 3) + 77) & 2047, high = (raw >> 9) & 0xffff;
    const u32 three = (raw ^ 1) & 7, sign = three & 4 ? three | ~7u : three;
    const u64 wide = ((u64(raw) << 20) & ((u64(1) << 45) - 1)) * 3 & ((u64(1) << 45) - 1);
    u32 bits;
    std::memcpy(&bits, &reals[i], 4);
    bits ^= 0x5a00;
    float back;
    std::memcpy(&back, &bits, 4);
    bits = turned(bits, low);
    u8 *at = &packed[15 * i];
    at[0] = u8(bits >> (8 * (raw & 3)));
    std::memcpy(&word, at + 1, 4);
    word ^= raw;
    std::memcpy(at + 1, &word, 4);
    double real;
    std::memcpy(&real, at + 5, 8);
    real += back;
    std::memcpy(at + 5, &real, 8);
    at[13] = u8(high), at[14] = u8(high >> 8);
    u64 unaligned;
    std::memcpy(&unaligned, at + 3, 8);
    want.push_back(low ^ u64(middle) << 8 ^ u64(sign) << 16 ^ wide ^ u64(bits) << 13 ^ unaligned);
  }
  run("layouts", n, any(44), b, r, p, out, n);
  same("fields", out.get(), want);
  same("packed", p.get(), packed);
}

static void many_arguments() {
  struct Large {
    int numbers[40];
    struct {
      short x, y;
      double weights[3];
    } inner[5];
    u8 order[8];
  } large;
  for (int i = 0; i < 40; ++i) large.numbers[i] = i * i - 300;
  for (int i = 0; i < 5; ++i) large.inner[i] = {short(i * 7 - 9), short(i), {i * 0.5, i * 0.25 - 1, -i * 2.0}};
  for (int i = 0; i < 8; ++i) large.order[i] = u8(i * 37);
  const int n = 203;
  Vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 13 % 251;
  const int three[] = {-5, 6, 7}, two[] = {-100, 101};
  const float four[] = {0.5f, -1.5f, 2.25f, 8};
  Array<int> source(in);
  Array<double> out(n);
  for (bool flag : {false, true}) {
    Vector<double> want;
    for (int pick : in) {
      double sum = flag ? -7 : 7;
      sum += 200 + -30000 + 60000 + -2000000000 + 4000000000u + double(i64(-5) << 40) + double(u64(1) << 63) + 0.125 + 1e-3 + 1.5;
      sum += three[pick % 3] + double(four[pick % 4]) + two[pick & 1];
      sum += large.numbers[pick % 40] + large.inner[pick % 5].x * large.inner[(pick + 1) % 5].weights[pick % 3];
      for (int k = 0; k < 8; ++k) sum = sum * 2 + u8(large.order[k] + (k == (pick & 7) ? 3 : 0)) % 7;
      want.push_back(sum);
    }
    run("many_arguments", n, any(32), flag, char(-7), u8(200), short(-30000), u16(60000), -2000000000, 4000000000u, i64(-5) * (i64(1) << 40),
        u64(1) << 63, 0.125f, 1e-3, sycl::half(1.5f), sycl::int3(-5, 6, 7), sycl::float4(0.5f, -1.5f, 2.25f, 8), sycl::char2(-100, 101), large,
        source, out, n, true);
    near("sums", out.get(), want, 0, 1e-14);
  }
}

static void carved_local() {
  const int n = 600, size = int(any(40)), items = (n + size - 1) / size * size;
  Random random{12};
  Vector<u8> in(n);
  for (u8 &v : in) v = u8(random.next());
  Vector<double> want;
  for (int i = 0; i < n; ++i) {
    const int from = i / size * size, l = i % size, other = (l * 5 + 2) % size;
    auto value = [&](int at) { return from + at < n ? int(in[from + at]) : 0; };
    want.push_back(value(other) / 4.0 + double(u64(value((other + size - 1) % size)) << 5) + u16(value((other + 1) % size) * 300) -
                   (value(other) > 99 ? value(size - 1 - other) : value(size - 1 - l)));
  }
  Array<u8> source(in);
  Array<double> out(n);
  run("carved_local", items, size, source, out, n, local<double>(size * 20 / 8 + 1));
  close("values", out.get(), want, 0, 0);
}

static void linear_ids() {
  const u32 groups[] = {3, 2, 4}, sizes[3][3] = {{2, 3, 5}, {1, 4, 8}, {4, 4, 2}};
  for (const auto &s : sizes) {
    const u32 size = s[0] * s[1] * s[2], all = size * 24;
    Array<u32> out(10 * all);
    run<3>("linear_ids", {groups[0] * s[0], groups[1] * s[1], groups[2] * s[2]}, {s[0], s[1], s[2]}, out, int(all));
    Vector<u32> want(10 * all), got = out.get();
    for (u32 z = 0; z < groups[0] * s[0]; ++z)
      for (u32 y = 0; y < groups[1] * s[1]; ++y)
        for (u32 x = 0; x < groups[2] * s[2]; ++x) {
          const u32 l[] = {z % s[0], y % s[1], x % s[2]}, g[] = {z / s[0], y / s[1], x / s[2]};
          const u32 item = (z * groups[1] * s[1] + y) * groups[2] * s[2] + x, inside = (l[0] * s[1] + l[1]) * s[2] + l[2];
          u32 *to = &want[10 * item];
          to[0] = inside;
          to[1] = (g[0] * groups[1] + g[1]) * groups[2] + g[2];
          to[2] = z << 20 | y << 10 | x;
          to[3] = l[0] << 20 | l[1] << 10 | l[2];
          to[4] = g[0] << 20 | g[1] << 10 | g[2];
          to[5] = size;
          to[6] = 24;
          to[7] = inside;
          to[8] = groups[0] * s[0] << 20 | groups[1] * s[1] << 10 | groups[2] * s[2];
          to[9] = (inside == 0) << 1 | 1;
        }
    same("ids", got, want);
  }
}

// --- wide and narrow integers --------------------------------------------------------------------

static void long_products() {
  const int n = 129;
  Vector<u32> a = some_words(8 * n, 14), b = some_words(8 * n, 15), want(16 * n);
  for (int k = 0; k < 8; ++k) a[k * n] = b[k * n] = ~0u, a[k * n + 1] = 0;
  for (int i = 0; i < n; ++i) {
    unsigned __int128 sum = 0;
    for (int at = 0; at < 16; ++at) {
      for (int k = std::max(0, at - 7); k <= std::min(7, at); ++k) sum += u64(a[k * n + i]) * b[(at - k) * n + i];
      want[at * n + i] = u32(sum);
      sum >>= 32;
    }
  }
  Array<u32> x(a), y(b), out(16 * n);
  run("long_products", n, any(25), x, y, out, n);
  same("products", out.get(), want);
}

static void transform_modulo() {
  const u64 p = 0xffffffff00000001u;
  const int batches = 6;
  auto times = [&](u64 a, u64 b) { return u64((unsigned __int128)a * b % p); };
  auto power = [&](u64 a, u64 e) {
    u64 r = 1;
    for (; e; e >>= 1, a = times(a, a))
      if (e & 1) r = times(r, a);
    return r;
  };
  const u64 root = power(7, (p - 1) / 64);
  Random random{16};
  Vector<u64> in(64 * batches), want;
  for (u64 &v : in) v = random.next() % p;
  in[0] = p - 1, in[1] = 0;
  for (int b = 0; b < batches; ++b)
    for (int k = 0; k < 64; ++k) {
      u64 sum = 0;
      for (int j = 0; j < 64; ++j) sum = u64(((unsigned __int128)sum + times(in[b * 64 + j], power(root, u64(j * k) % 64))) % p);
      want.push_back(sum);
    }
  Array<u64> source(in), out(in.size());
  run("transform_modulo", batches * 32, 32, source, out, root, local<u64>(64));
  same("transformed", out.get(), want);
}

static void divisions() {
  const int n = 407, rows = 12;
  Random random{17};
  Vector<i64> a(n), b(n), want(rows * n);
  for (i64 &v : a) v = i64(random.next()) >> random.below(60);
  for (i64 &v : b) v = i64(random.next()) >> random.below(63);
  for (int i = 0; i < 12; ++i) a[i] = i < 6 ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max(), b[i] = i % 6 - 2;
  for (int i = 0; i < n; ++i) {
    const i64 x = a[i], y = b[i];
    int row = 0;
    auto put = [&](i64 value) { want[row++ * n + i] = value; };
    auto both = [&](auto kind) {
      using T = decltype(kind);
      const __int128 d = T(y) == 0 || T(y) == T(-1) ? T(3) : T(y), v = T(x);
      put(i64(T(u64(v / d) * 7 + u64(v % d))));
    };
    both(std::int8_t()), both(u8()), both(short()), both(u16()), both(int()), both(u32()), both(i64()), both(u64());
    put(i64(u64(x) / 1000003 ^ u64(x) % 10));
    put(x / -12345 + x % 1000);
    put(i64(u64(std::max(x, y)) - u64(x >> (y & 63))));
    u64 four = 0;
    for (int k = 0; k < 4; ++k) {
      const short v = short(x >> (16 * k)), raw = short(y >> (16 * k)), d = raw == 0 || raw == -1 ? 3 : raw;
      four ^= u64(i64(short(v / d + v % d))) << (16 * k);
    }
    put(i64(four));
  }
  Array<i64> first(a), second(b), out(rows * n);
  run("divisions", n, any(56), first, second, out, n);
  same("quotients", out.get(), want);
}

static void edit_distance() {
  const int n = 37, length = 90;
  Random random{18};
  Vector<char> patterns(64 * n), text(length);
  for (char &c : text) c = char('a' + random.below(4));
  for (int i = 0; i < 64 * n; ++i) patterns[i] = random.below(3) ? text[(i % 64 + i / 64) % length] : char('a' + random.below(4));
  Vector<int> want;
  for (int which = 0; which < n; ++which) {
    Vector<int> column(65);
    std::iota(column.begin(), column.end(), 0);
    int best = 64;
    for (int j = 0; j < length; ++j) {
      Vector<int> next(65);
      // A match may begin nowhere but at the text's beginning.
      next[0] = column[0] + 1;
      for (int k = 1; k <= 64; ++k)
        next[k] = std::min({column[k] + 1, next[k - 1] + 1,
                            column[k - 1] + ((patterns[which * 64 + k - 1] & 3) != (text[(which + j) % length] & 3))});
      column = next;
      best = std::min(best, column[64]);
    }
    want.push_back(column[64] * 1000 + best);
  }
  Array<char> p(patterns), t(text);
  Array<int> out(n);
  run("edit_distance", n, any(16), p, t, length, out, n);
  same("distances", out.get(), want);
}

static void dot_products() {
  const int n = 333;
  const Vector<u32> a = some_words(n, 19), b = some_words(n, 20);
  Vector<int> want;
  for (int i = 0; i < n; ++i) {
    int sum = 5;
    for (int k = 0; k < 4; ++k) {
      const u8 x = u8(a[i] >> (8 * k)), y = u8(b[i] >> (8 * k));
      sum += 2 * std::int8_t(x) * std::int8_t(y) + int(x) * y + std::int8_t(x) * int(y);
    }
    want.push_back(sum);
  }
  Array<u32> x(a), y(b);
  Array<int> out(n);
  run("dot_products", n, any(40), x, y, out, n);
  same("sums", out.get(), want);
}

static void determinants() {
  const int n = 211;
  Random random{21};
  Vector<int> in(25 * n);
  for (int i = 0; i < 25 * n; ++i) in[i] = random.below(i % n % 3 == 0 ? 3 : 100) ? int(random.below(19)) - 9 : 0;
  Vector<i64> want;
  for (int which = 0; which < n; ++which) {
    int order[5] = {0, 1, 2, 3, 4};
    i64 sum = 0;
    do {
      i64 product = 1;
      for (int r = 0; r < 5; ++r) {
        product *= in[(r * 5 + order[r]) * n + which];
        for (int c = 0; c < r; ++c)
          if (order[c] > order[r]) product = -product;
      }
      sum += product;
    } while (std::next_permutation(order, order + 5));
    want.push_back(sum);
  }
  Array<int> source(in);
  Array<i64> out(n);
  run("determinants", n, any(30), source, out, n);
  same("determinants", out.get(), want);
}

// --- bytes and bits ------------------------------------------------------------------------------

static void unpack_codes() {
  const int lists = 61, length = 40;
  Random random{22};
  // Codes of 1 to 9 bits: a letter k is k ones and a zero, the last nine ones.
  Vector<u16> table(512);
  for (int bits = 0; bits < 512; ++bits) {
    int ones = 0;
    while (ones < 9 && bits >> ones & 1) ++ones;
    table[bits] = u16('a' + ones) | u16(std::min(9, ones + 1) << 8);
  }
  Vector<u8> letters(lists * length);
  Vector<u32> starts, stream;
  u32 at = 0;
  for (int i = 0; i < lists * length; ++i) {
    if (i % length == 0) starts.push_back(at);
    const int ones = std::min(9, __builtin_ctz(random.below(1 << 11) | 1 << 10));
    letters[i] = u8('a' + ones);
    for (int bit = 0; bit < std::min(9, ones + 1); ++bit, ++at) {
      stream.resize(at / 32 + 1);
      stream[at / 32] |= u32(bit < ones) << (at % 32);
    }
  }
  stream.push_back(0), stream.push_back(0);
  Array<u32> s(stream), from(starts);
  Array<u16> t(table);
  Array<u8> out(lists * length);
  run("unpack_codes", lists, any(24), s, from, t, out, lists, length);
  same("letters", out.get(), letters);
}

static void base64() {
  const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int n : {499, 500, 501}) {
    Random random{u64(n)};
    Vector<u8> in(n);
    for (u8 &b : in) b = u8(random.next());
    Vector<char> want;
    u32 bits = 0, count = 0;
    for (u8 b : in) {
      bits = bits << 8 | b, count += 8;
      for (; count >= 6; count -= 6) want.push_back(letters[bits >> (count - 6) & 63]);
    }
    if (count) want.push_back(letters[bits << (6 - count) & 63]);
    while (want.size() % 4) want.push_back('=');
    Array<u8> source(in);
    Array<char> out(want.size());
    run("base64", (n + 2) / 3, any(36), source, out, n);
    same("letters", out.get(), want);
  }
}

static void utf8() {
  Random random{24};
  Vector<u8> bytes;
  Vector<int> starts{0}, want;
  for (int i = 0; i < 400; ++i) {
    Vector<u8> one;
    for (int count = random.below(8); count > 0; --count) {
      u32 c = u32(random.next() >> (43 + random.below(14)));
      if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 'x';
      if (c < 0x80) one.push_back(u8(c));
      else if (c < 0x800) one.insert(one.end(), {u8(0xc0 | c >> 6), u8(0x80 | (c & 63))});
      else if (c < 0x10000) one.insert(one.end(), {u8(0xe0 | c >> 12), u8(0x80 | (c >> 6 & 63)), u8(0x80 | (c & 63))});
      else one.insert(one.end(), {u8(0xf0 | c >> 18), u8(0x80 | (c >> 12 & 63)), u8(0x80 | (c >> 6 & 63)), u8(0x80 | (c & 63))});
    }
    if (random.below(2) && !one.empty()) one[random.below(u32(one.size()))] ^= u8(1 << random.below(8));
    // A reference of another kind: numbers are put together and looked at.
    int result = -1;
    for (std::size_t at = 0; at < one.size() && result == -1;) {
      const u8 b = one[at];
      const int more = b < 0x80 ? 0 : b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : -1;
      if (more < 0) { result = int(at); break; }
      u32 low = b & (0x3f >> more), high = low;
      for (int k = 1; k <= more; ++k) {
        if (at + k >= one.size()) { result = -2; break; }
        if ((one[at + k] & 0xc0) != 0x80) { result = int(at) + k; break; }
        low = low << 6 | (one[at + k] & 63);
        // Whether any character begins like this.
        high = low;
        u32 least = low, most = low;
        for (int rest = k; rest < more; ++rest) least <<= 6, most = most << 6 | 63;
        const u32 smallest = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
        if (most < smallest || least > 0x10ffff || (least >= 0xd800 && most < 0xe000)) { result = int(at) + k; break; }
      }
      at += more + 1;
    }
    want.push_back(result);
    bytes.insert(bytes.end(), one.begin(), one.end());
    starts.push_back(int(bytes.size()));
  }
  Array<u8> source(bytes);
  Array<int> s(starts), bad(400);
  run("utf8", 400, any(32), source, s, bad, 400);
  same("bad places", bad.get(), want);
}

static void median() {
  const int rows = 33, columns = 47;
  Random random{25};
  Vector<u8> in(rows * columns), want;
  for (u8 &v : in) v = u8(random.next());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      Vector<u8> around;
      for (int d = 0; d < 9; ++d)
        around.push_back(in[std::clamp(y + d / 3 - 1, 0, rows - 1) * columns + std::clamp(x + d % 3 - 1, 0, columns - 1)]);
      std::sort(around.begin(), around.end());
      want.push_back(around[4]);
    }
  Array<u8> source(in), out(in.size());
  run<2>("median", {rows, columns}, {4, 12}, source, out, rows, columns);
  same("medians", out.get(), want);
}

static void sieve() {
  const int n = 3000;
  Vector<u8> want(n, 1);
  want[0] = want[1] = 0;
  for (int p = 2; p < n; ++p)
    for (int m = 2 * p; m < n; m += p) want[m] = 0;
  const std::size_t group = any(48);
  Array<u8> out(n);
  run("sieve", (n + 3) / 4, group, out, n, local<bool>(4 * group));
  same("primes", out.get(), want);
}

static void twister() {
  const int n = 1500, groups = 3;
  Vector<u32> want;
  for (u32 g = 0; g < groups; ++g) {
    std::mt19937 reference(4357 + g);
    for (int i = 0; i < n; ++i) want.push_back(u32(reference()));
  }
  Array<u32> out(n * groups);
  const std::size_t group = std::min<std::size_t>(any(120), 227);
  run("twister", groups * group, group, out, 4357u, n, local<u32>(624));
  same("numbers", out.get(), want);
}

// --- trees, strings, queues ----------------------------------------------------------------------

struct Node {
  int at[3];
  int axis;
};
static void plant(Vector<Node> &tree, std::size_t at, Vector<Node> points, int axis) {
  if (points.empty()) return;
  std::sort(points.begin(), points.end(), [&](const Node &a, const Node &b) { return a.at[axis] < b.at[axis]; });
  // As many on the left as a tree without gaps has there.
  std::size_t n = points.size(), full = 1;
  while (2 * full + 1 <= n) full = 2 * full + 1;
  const std::size_t last = n - full, left = std::min((full - 1) / 2 + last, full == 1 && n == 1 ? std::size_t(0) : full);
  tree[at] = points[left];
  tree[at].axis = axis;
  plant(tree, 2 * at + 1, Vector<Node>(points.begin(), points.begin() + left), (axis + 1) % 3);
  plant(tree, 2 * at + 2, Vector<Node>(points.begin() + left + 1, points.end()), (axis + 1) % 3);
}
static void nearest_in_tree() {
  const int nodes = 500, n = 301;
  Random random{27};
  Vector<Node> points(nodes), tree(nodes);
  for (Node &p : points)
    for (int &c : p.at) c = int(random.below(5000)) - 2500;
  plant(tree, 0, points, 0);
  Vector<int> queries(3 * n), want;
  for (int &q : queries) q = int(random.below(6000)) - 3000;
  Vector<u64> distances;
  for (int i = 0; i < n; ++i) {
    u64 least = ~u64(0);
    int best = -1;
    for (int p = 0; p < nodes; ++p) {
      u64 away = 0;
      for (int d = 0; d < 3; ++d) away += u64(i64(tree[p].at[d] - queries[d * n + i]) * (tree[p].at[d] - queries[d * n + i]));
      if (away < least) least = away, best = p;
    }
    want.push_back(best), distances.push_back(least);
  }
  Array<Node> t(tree);
  Array<int> q(queries), found(n);
  Array<u64> distance(n);
  run("nearest_in_tree", n, any(40), t, nodes, q, found, distance, n);
  same("distances", distance.get(), distances);
  same("nearest", found.get(), want);
}

static void sort_strings() {
  const int lists = 97;
  Random random{28};
  Vector<char> in(lists * 48), want;
  for (int s = 0; s < lists * 6; ++s)
    for (int length = random.below(8), k = 0; k < length; ++k) in[s * 8 + k] = char('a' + random.below(3));
  for (int list = 0; list < lists; ++list) {
    Vector<std::string> strings;
    for (int s = 0; s < 6; ++s) strings.push_back(std::string(&in[list * 48 + s * 8]));
    std::sort(strings.begin(), strings.end());
    for (std::string &s : strings) s.resize(8), want.insert(want.end(), s.begin(), s.end());
  }
  Array<char> array(in);
  run("sort_strings", lists, any(20), array, lists);
  same("strings", array.get(), want);
}

static void append_by_sub_group() {
  const int n = 1801;
  Random random{29};
  Vector<int> in(n), want;
  for (int &v : in) v = int(random.below(100000));
  std::copy_if(in.begin(), in.end(), std::back_inserter(want), [](int v) { return v % 3 == 0; });
  std::sort(want.begin(), want.end());
  Array<int> source(in), out(n), count(1, 0);
  run("append_by_sub_group", n, any(60), source, n, out, count);
  same("count", count.get(), {int(want.size())});
  Vector<int> got = out.get();
  got.resize(want.size());
  std::sort(got.begin(), got.end());
  same("appended", got, want);
}

// --- groups of other types and kinds -------------------------------------------------------------

static void reductions_of_types() {
  const int n = 250, size = int(any(40)), groups = (n + size - 1) / size;
  Random random{30};
  Vector<int> in(n);
  for (int &v : in) v = int(random.below(2000)) - 1000;
  Vector<double> want;
  for (int g = 0; g < groups; ++g) {
    Vector<int> x(size);
    for (int l = 0; l < size && g * size + l < n; ++l) x[l] = in[g * size + l];
    i64 sum = 0, low = 0, threes = 0;
    u64 product = 1;
    int bytes = 0, shorts = 40000, halves = 0, least = 100000, most = -100000;
    for (int v : x) {
      sum += v, low += v & 1023, threes += v & 3, product *= u64(i64(v)) | 1;
      bytes = std::max(bytes, int(u8(v))), shorts = std::min(shorts, int(short(v))), halves = std::max(halves, v & 7);
      least = std::min(least, v), most = std::max(most, v);
    }
    want.insert(want.end(), {double(std::int8_t(sum)), double(bytes), double(shorts), double(sum * (1 << 20)), double(product >> 12), double(halves),
                             double(low), double(sum) / 4, double(least > -900), double(most > 900), double(sum + 2 * threes + 4 * size + sum),
                             x[size / 2] * 1.5, 2.0 * x[0]});
  }
  // The product is converted before it is shifted.
  Array<int> source(in);
  Array<double> out(13 * groups);
  run("reductions_of_types", n, size, source, out, n);
  close("reductions", out.get(), want, 0, 0);
}

static void chunks() {
  const int n = 307, items = 12 * 48;
  Random random{31};
  Vector<int> in(n), want;
  for (int &v : in) v = int(random.below(100));
  for (int i = 0; i < items; ++i) {
    int sum = 0, before = 0, most = 0, any = 0;
    for (int k = i / 4 * 4; k < i / 4 * 4 + 4; ++k) {
      const int x = in[k % n];
      sum += x, before += k < i ? x : 0, most = std::max(most, x), any |= x < 20;
    }
    want.push_back(sum * 3 + before * 5 + most * 7 + in[(i / 4 * 4 + 3) % n] * 11 + any + i % 4 * 1000000);
  }
  Array<int> source(in), out(items);
  run("chunks", items, 48, source, out, n);
  same("chunks", out.get(), want);
}

static void fragments() {
  // One sub-group for each group, of whatever size is the device's.
  const int n = 307, groups = 20;
  Random random{32};
  Vector<int> in(n), want;
  for (int &v : in) v = int(random.below(100));
  for (int i = 0; i < 8 * groups; ++i) {
    int sum = 0, count = 0;
    for (int k = i / 8 * 8; k < i / 8 * 8 + 8; ++k)
      if ((in[k % n] % 3 == 0) == (in[i % n] % 3 == 0)) sum += in[k % n], ++count;
    want.push_back(sum * 64 + count);
  }
  Array<int> source(in), out(8 * groups);
  run("fragments", 8 * groups, 8, source, out, n);
  same("fragments", out.get(), want);
}

static void tangles() {
  const int n = 307, groups = 20;
  Random random{44};
  Vector<int> in(n), want(8 * groups);
  for (int &v : in) v = int(random.below(1000));
  for (int g = 0; g < groups; ++g) {
    auto x = [&](int l) { return in[(8 * g + l) % n]; };
    int *to = &want[8 * g], before = 0;
    for (int turn = 0; turn < 6; ++turn) {
      int most = -1, count = 0;
      for (int l = 0; l < 8; ++l)
        if (turn < x(l) % 6) most = std::max(most, x(l)), ++count;
      for (int l = 0; l < 8; ++l)
        if (turn < x(l) % 6) {
          to[l] = to[l] * 3 + most + count;
          if (x(l) % 11 != turn) to[l] ^= turn << 8;
        }
    }
    for (int l = 0; l < 8; ++l)
      if (x(l) % 3 != 1) to[l] += 100000 * before++;
  }
  Array<int> source(in), out(8 * groups);
  run("tangles", 8 * groups, 8, source, out, n);
  same("tangles", out.get(), want);
}

static void sorts() {
  const int n = 307, size = int(any(40)), groups = 6;
  Random random{45};
  Vector<int> in(n), up, down;
  for (int &v : in) v = int(random.next() >> 50);
  for (int g = 0; g < groups; ++g) {
    Vector<int> mine;
    for (int l = 0; l < size; ++l) mine.push_back(in[(g * size + l) % n]);
    std::sort(mine.begin(), mine.end());
    up.insert(up.end(), mine.begin(), mine.end()), down.insert(down.end(), mine.rbegin(), mine.rend());
  }
  Array<int> source(in), over(size * groups), joint(size * groups);
  run("sorts", size * groups, size, source, over, joint, n, local<int>(2 * size + 2));
  same("over the group", over.get(), up);
  same("jointly", joint.get(), down);
}

static void load_and_store() {
  const int size = int(any(32)), groups = 5;
  Vector<int> in(4 * size * groups), want(in.size());
  std::iota(in.begin(), in.end(), 100);
  for (int g = 0; g < groups; ++g)
    for (int l = 0; l < size; ++l)
      for (int k = 0; k < 4; ++k) want[g * 4 * size + 4 * l + k] = in[g * 4 * size + k * size + l] * 2 + l;
  Array<int> source(in), out(in.size());
  run("load_and_store", size * groups, size, source, out);
  same("stored", out.get(), want);
}

static void local_atomics() {
  const int n = 500, size = int(any(44)), groups = (n + size - 1) / size;
  Random random{34};
  Vector<int> in(n), ints;
  Vector<float> floats;
  Vector<u64> longs;
  for (int &v : in) v = int(random.below(100000));
  for (int g = 0; g < groups; ++g) {
    float f[4] = {};
    u64 l[4] = {};
    int k[4] = {0, -1, 0, 0};
    for (int i = g * size; i < std::min(n, (g + 1) * size); ++i) {
      const int x = in[i];
      f[0] += float(x & 63), f[1] = std::min(f[1], float(-x)), f[2] = std::max(f[2], float(x) / 2);
      l[0] = std::max(l[0], u64(x) << 17), l[1] ^= u64(x) << 9, l[2] = (l[2] ? l[2] : 1) * u64((x & 1023) | 1) % 1000003;
      k[0] |= x, k[1] &= x | 0xff, k[2] += x % 4 == 0;
      const float third = float(x & 0xfff) / 3;
      int bits;
      std::memcpy(&bits, &third, 4);
      k[3] = std::max(k[3], bits);
    }
    floats.insert(floats.end(), f, f + 4), longs.insert(longs.end(), l, l + 4), ints.insert(ints.end(), k, k + 4);
  }
  Array<int> source(in), i(4 * groups);
  Array<float> f(4 * groups);
  Array<u64> l(4 * groups);
  run("local_atomics", n, size, source, n, f, l, i, local<float>(4), local<u64>(4), local<int>(4));
  same("floats", f.get(), floats);
  same("longs", l.get(), longs);
  same("ints", i.get(), ints);
}

// --- numbers -------------------------------------------------------------------------------------

static void more_conversions() {
  const int n = 400;
  Random random{35};
  Vector<i64> in(n);
  for (int i = 0; i < n; ++i) {
    in[i] = i64(random.next()) >> random.below(63);
    // Half-way between two floats, and beside it.
    if (i % 5 == 0) in[i] = (i64(1) << (25 + i % 38)) + (i64(3) << (1 + i % 38)) + i % 3 - 1;
  }
  Vector<float> floats(5 * n);
  Vector<double> doubles(2 * n);
  Vector<u16> halves(2 * n);
  Vector<int> ints(5 * n);
  for (int i = 0; i < n; ++i) {
    const i64 x = in[i];
    floats[i] = float(x), floats[n + i] = float(u64(x)), floats[2 * n + i] = float(int(x)), floats[3 * n + i] = float(u32(x));
    floats[4 * n + i] = float(double(x) * 0x1p-70);
    doubles[i] = double(x), doubles[n + i] = double(u64(x));
    halves[i] = half_of(short(x)), halves[n + i] = half_of(double(x) * 0x1p-61);
    const float f = float(int(x)) / 1024;
    ints[i] = int(f), ints[n + i] = int(std::nearbyint(f)), ints[2 * n + i] = int(std::nearbyint(std::min(255.0f, std::max(0.0f, f))));
    ints[3 * n + i] = int(x % 2000), ints[4 * n + i] = std::isnormal(floats[4 * n + i]) << 2 | std::signbit(f) << 1;
  }
  Array<i64> source(in);
  Array<float> f(5 * n);
  Array<double> d(2 * n);
  Array<u16> h(2 * n);
  Array<int> k(5 * n);
  run("more_conversions", n, any(40), source, f, d, reinterpret_cast<sycl::half *>(h.data()), k, n);
  same("floats", f.get(), floats);
  same("doubles", d.get(), doubles);
  same("halves", h.get(), halves);
  same("ints", k.get(), ints);
}

static void subnormals() {
  const int n = 200;
  Random random{36};
  Vector<float> a(n), b(n), want(4 * n);
  Vector<double> wide(2 * n);
  for (int i = 0; i < n; ++i) {
    a[i] = std::ldexp(float(random.real(-1, 1)), -100 - int(random.below(48))), b[i] = std::ldexp(float(random.real(-1, 1)), -int(random.below(30)));
    want[i] = a[i] * b[i], want[n + i] = a[i] + b[i] * 0x1p-100f, want[2 * n + i] = std::max(a[i], -b[i]);
    want[3 * n + i] = std::ldexp(b[i], -140);
    wide[i] = double(a[i]) * 0x1p-960, wide[n + i] = double(a[i]) * 0x1p-960 * 0x1p-20;
  }
  Array<float> x(a), y(b), out(4 * n);
  Array<double> w(2 * n);
  run("subnormals", n, any(36), x, y, out, w, n);
  same("floats", out.get(), want);
  same("doubles", w.get(), wide);
}

static void noise() {
  const int rows = 41, columns = 67;
  const float scale = 0.37f;
  Random random{37};
  Vector<u8> table(256);
  std::iota(table.begin(), table.end(), u8(0));
  for (int i = 255; i > 0; --i) std::swap(table[i], table[random.below(i + 1)]);
  Vector<double> want;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      // The places as the kernel has them, in single precision: another rounding could be another cell.
      const float x = float(c) * scale, y = std::fma(float(r) * scale, 1.5f, -9.0f);
      const double u = x - std::floor(x), v = y - std::floor(y);
      const int ix = int(std::floor(x)) & 255, iy = int(std::floor(y)) & 255;
      auto gradient = [&](int dx, int dy) {
        const int h = table[(table[(ix + dx) & 255] + iy + dy) & 255];
        return (h & 1 ? -(u - dx) : u - dx) + (h & 2 ? -2 * (v - dy) : 2 * (v - dy));
      };
      auto eased = [](double t) { return t * t * t * (t * (t * 6 - 15) + 10); };
      auto mixed = [](double a, double b, double t) { return a + (b - a) * t; };
      want.push_back(mixed(mixed(gradient(0, 0), gradient(1, 0), eased(u)), mixed(gradient(0, 1), gradient(1, 1), eased(u)), eased(v)));
    }
  Array<u8> t(table);
  Array<float> out(rows * columns);
  run<2>("noise", {rows, columns}, {4, 16}, t, out, rows, columns, scale);
  near("noise", out.get(), want, 2e-5, 0);
}

static void tridiagonal() {
  const int n = 45, systems = 7;
  Random random{38};
  Vector<double> in(4 * n * systems), want(n * systems);
  for (int s = 0; s < systems; ++s) {
    double *a = &in[4 * s * n], *b = a + n, *c = b + n, *d = c + n;
    for (int i = 0; i < n; ++i) {
      a[i] = i ? random.real(-1, 1) : 0, c[i] = i + 1 < n ? random.real(-1, 1) : 0, b[i] = random.real(2.5, 4);
      want[s * n + i] = random.real(-5, 5);
    }
    for (int i = 0; i < n; ++i)
      d[i] = b[i] * want[s * n + i] + (i ? a[i] * want[s * n + i - 1] : 0) + (i + 1 < n ? c[i] * want[s * n + i + 1] : 0);
  }
  Array<double> source(in), out(n * systems);
  const std::size_t group = any(48, n);
  run("tridiagonal", systems * group, group, source, out, n, local<double>(4, group));
  close("solutions", out.get(), want, 1e-11, 1e-11);
}

static void binomial() {
  const int steps = 150, options = 9;
  Vector<float> strikes;
  Vector<double> want;
  for (int o = 0; o < options; ++o) {
    strikes.push_back(float(40 + 25 * o));
    Vector<double> leaves;
    for (int i = 0; i <= steps; ++i) leaves.push_back(std::max(i * 2.0 - strikes[o], 0.0));
    for (int left = steps; left > 0; --left)
      for (int i = 0; i < left; ++i) leaves[i] = 0.4375 * leaves[i + 1] + 0.5 * leaves[i];
    want.push_back(leaves[0]);
  }
  Array<float> source(strikes), out(options);
  const std::size_t group = any(64);
  run("binomial", options * group, group, source, out, steps, local<float>(steps + 1));
  close("prices", out.get(), want, 1e-12, 3e-5);
}

static void product_registers() {
  const int n = 38;
  Random random{40};
  Vector<double> a(n * n), b(n * n), want(n * n);
  for (double &v : a) v = random.real(-1, 1);
  for (double &v : b) v = random.real(-1, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) want[i * n + j] += a[i * n + k] * b[k * n + j];
  Array<double> x(a), y(b), out(n * n);
  run<2>("product_registers", {(n + 3) / 4, (n + 3) / 4}, {2, 8}, x, y, out, n);
  close("product", out.get(), want, 1e-13, 0);
}

static void spins() {
  const int side = 26;
  Random random{41};
  Vector<std::int8_t> lattice(side * side);
  Vector<u32> state = some_words(side * side, 42);
  for (auto &s : lattice) s = random.below(2) ? 1 : -1;
  Array<std::int8_t> l(lattice);
  Array<u32> s(state);
  for (int step = 0; step < 10; ++step) {
    run("spins", side * side / 2, any(40), l, s, side, step % 2);
    Vector<std::int8_t> next = lattice;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        if ((x + y) % 2 != step % 2) continue;
        auto at = [&](int r, int c) { return int(lattice[(r + side) % side * side + (c + side) % side]); };
        const int cost = at(y, x) * (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1));
        u32 &draw = state[y * side + x];
        draw = draw * 1664525u + 1013904223u;
        if (cost <= 0 || draw < (cost == 2 ? 0x80000000u : 0x10000000u)) next[y * side + x] = std::int8_t(-at(y, x));
      }
    lattice = next;
  }
  same("spins", l.get(), lattice);
  same("states", s.get(), state);
}

// --- memory of the module ------------------------------------------------------------------------

// A separate source: with the many kernels of the other one, libsycl 2026.2 itself throws a length_error
// (device_image_impl::createSYCLImages), before it calls the driver.
static const char *source_with_variables = R"(
#include <sycl/sycl.hpp>
namespace ex = sycl::ext::oneapi::experimental;
ex::device_global<int[16]> counters;
ex::device_global<float> factor;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<1>)) void use_variables(const int *in, float *out, int n) {
  const int i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
  if (i >= n) return;
  sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::device>(counters[in[i] & 15]).fetch_add(1);
  out[i] = float(in[i]) * factor.get();
}
)";

static void device_variables() {
  const int n = 500;
  Random random{43};
  Vector<int> in(n), counts(16);
  for (int &v : in) v = int(random.below(1000));
  Vector<float> want;
  for (int v : in) ++counts[v & 15], want.push_back(float(v) * 0.75f);
  auto own = compiled(source_with_variables);
  auto *const usual = bundle;
  bundle = &own;
  auto at = [&](const char *name) { return own.ext_oneapi_get_device_global_address(name, queue->get_device()); };
  const float three_quarters = 0.75f;
  queue->memset(at("counters"), 0, 16 * sizeof(int)).wait();
  queue->memcpy(at("factor"), &three_quarters, sizeof three_quarters).wait();
  Array<int> source(in);
  Array<float> out(n);
  run("use_variables", n, any(40), source, out, n);
  bundle = usual;
  Vector<int> got(16);
  queue->memcpy(got.data(), at("counters"), 16 * sizeof(int)).wait();
  same("products", out.get(), want);
  same("counters", got, counts);
}

static const Case cases[] = {
    CASE(duff), CASE(jumps), CASE(barrier_loops), CASE(wrapping_loops), CASE(fetch_work), CASE(locks), CASE(sudoku), CASE(calls),
    CASE(pointer_kinds), CASE(layouts), CASE(many_arguments), CASE(carved_local), CASE(linear_ids), CASE(long_products),
    CASE(transform_modulo), CASE(divisions), CASE(edit_distance), CASE(dot_products), CASE(determinants), CASE(unpack_codes),
    CASE(base64), CASE(utf8), CASE(median), CASE(sieve), CASE(twister), CASE(nearest_in_tree), CASE(sort_strings),
    CASE(append_by_sub_group), CASE(reductions_of_types), CASE(chunks), CASE(fragments), CASE(tangles), CASE(sorts), CASE(load_and_store), CASE(local_atomics),
    CASE(more_conversions), CASE(subnormals), CASE(noise), CASE(tridiagonal), CASE(binomial), CASE(product_registers), CASE(spins),
    CASE(device_variables),
};

int main(int count, char **arguments) { return run_all("awkward", cases, std::size(cases), count, arguments); }
