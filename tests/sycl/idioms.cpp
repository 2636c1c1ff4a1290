// Kernels in the idioms of GPU benchmarks (idioms_kernels.cpp), each beside plain C++ on the host.
#include "harness.hpp"

// --- local tiles ---------------------------------------------------------------------------------

static void heat_tile() {
  const int rows = 75, columns = 53;
  Random random{1};
  Vector<float> in(rows * columns);
  for (float &v : in) v = float(random.real(0, 100));
  Vector<double> want(rows * columns);
  auto at = [&](int y, int x) { return double(in[std::clamp(y, 0, rows - 1) * columns + std::clamp(x, 0, columns - 1)]); };
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      want[y * columns + x] = at(y, x) + 0.125 * (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1) - 4 * at(y, x));
  Array<float> source(in), out(in.size());
  run<2>("heat_tile", {rows, columns}, {16, 16}, source, out, rows, columns, local<float>(18, 18));
  close("heat", out.get(), want, 1e-4, 0);
}

static void stencil_3d() {
  const int nx = 29, ny = 21, nz = 13;
  Random random{2};
  Vector<double> in(nx * ny * nz), want(in.size());
  for (double &v : in) v = random.real(-1, 1);
  auto at = [&](int z, int y, int x) {
    return x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz ? 0 : in[(z * ny + y) * nx + x];
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        want[(z * ny + y) * nx + x] = at(z - 1, y, x) + at(z + 1, y, x) + at(z, y - 1, x) + at(z, y + 1, x) + at(z, y, x - 1) +
                                      at(z, y, x + 1) - 6 * at(z, y, x);
  Array<double> source(in), guarded(in.size()), planes(in.size());
  run<3>("stencil_guarded", {nz, ny, nx}, {4, 4, 8}, source, guarded, nx, ny, nz);
  close("guarded", guarded.get(), want, 1e-13, 0);
  run<2>("stencil_planes", {ny, nx}, {8, 16}, source, planes, nx, ny, nz, local<double>(10, 18));
  close("planes", planes.get(), want, 1e-13, 0);
}

static void product_tile() {
  const int m = 45, n = 70, k = 37;
  Random random{3};
  Vector<int> a(m * k), b(k * n), want(m * n);
  for (int &v : a) v = int(random.next());
  for (int &v : b) v = int(random.next());
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      u32 sum = 0;
      for (int l = 0; l < k; ++l) sum += u32(a[i * k + l]) * u32(b[l * n + j]);
      want[i * n + j] = int(sum);
    }
  Array<int> left(a), right(b), out(m * n);
  run<2>("product_tile", {m, n}, {16, 16}, left, right, out, m, n, k, Scratch<int[16][17]>(), Scratch<int[16][17]>());
  same("product", out.get(), want);
}

static void transpose_tile() {
  const int rows = 77, columns = 101;
  Vector<short> in(rows * columns), want(in.size());
  for (int i = 0; i < rows * columns; ++i) in[i] = short(i * 7);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) want[x * rows + y] = in[y * columns + x];
  Array<short> source(in), out(in.size());
  run<2>("transpose_tile", {(rows + 31) / 32 * 8, (columns + 31) / 32 * 32}, {8, 32}, source, out, rows, columns, local<short>(32, 33));
  same("transposed", out.get(), want);
}

static void bodies_tile() {
  const int n = 333;
  const float soft = 0.01f;
  Random random{4};
  Vector<sycl::float4> at(n);
  for (auto &p : at) p = sycl::float4(random.real(-1, 1), random.real(-1, 1), random.real(-1, 1), random.real(0.5, 2));
  Array<sycl::float4> source(at), out(n);
  run("bodies_tile", n, 64, source, out, n, soft, local<sycl::float4>(64));
  Vector<float> got;
  Vector<double> want;
  for (const auto &p : out.get())
    for (int d = 0; d < 4; ++d) got.push_back(p[d]);
  for (int i = 0; i < n; ++i) {
    double sum[4] = {};
    for (int j = 0; j < n; ++j) {
      double squares = soft, along[3];
      for (int d = 0; d < 3; ++d) along[d] = double(at[j][d]) - double(at[i][d]), squares += along[d] * along[d];
      for (int d = 0; d < 3; ++d) sum[d] += along[d] * double(at[j][3]) / (squares * std::sqrt(squares));
    }
    want.insert(want.end(), sum, sum + 4);
  }
  near("push", got, want, 1e-3, 1e-4);
}

static void convolve_rows() {
  const int rows = 31, columns = 83, radius = 4;
  struct { float at[9]; int radius; } by = {{.05f, .09f, .12f, .15f, .18f, .15f, .12f, .09f, .05f}, radius};
  Random random{5};
  Vector<float> in(rows * columns);
  for (float &v : in) v = float(random.real(-8, 8));
  Vector<double> want(in.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      for (int d = -radius; d <= radius; ++d)
        if (x + d >= 0 && x + d < columns) want[y * columns + x] += double(in[y * columns + x + d]) * double(by.at[d + radius]);
  Array<float> source(in), out(in.size());
  run<2>("convolve_rows", {rows, columns}, {4, 32}, source, out, rows, columns, by);
  close("convolved", out.get(), want, 1e-5, 0);
}

// --- counting, scanning, sorting -----------------------------------------------------------------

static void histogram() {
  const int n = 20011;
  Random random{6};
  Vector<u8> in(n);
  for (u8 &v : in) v = u8(random.below(16) * random.below(17));
  Vector<u32> want(256);
  for (u8 v : in) ++want[v];
  Array<u8> source(in);
  Array<u32> bins(256, 0);
  const std::size_t group = any(96);
  run("histogram", 8 * group, group, source, bins, n, local<u32>(256));
  same("bins", bins.get(), want);
}

static void scans() {
  const int n = 5001, group = 64, blocks = (n + 2 * group - 1) / (2 * group);
  Random random{7};
  Vector<u32> in(n), want(n), inclusive(n);
  for (u32 &v : in) v = u32(random.next());
  u32 sum = 0;
  for (int i = 0; i < n; ++i) want[i] = sum, sum += in[i], inclusive[i] = sum;
  Array<u32> source(in), out(n), sums(blocks), before(blocks), total(1);
  run("scan_sweeps", blocks * group, group, source, out, sums, n, local<u32>(2 * group));
  run("scan_sweeps", group, group, sums, before, total, blocks, local<u32>(2 * group));
  run("scan_add", n, any(96), out, before, n, 2 * group);
  same("exclusive", out.get(), want);
  same("total", total.get(), {sum});
  const int look = int(any(48)), looks = (n + look - 1) / look;
  Array<u32> ticket(1, 0);
  Array<u64> state(looks, 0);
  run("scan_look_back", n, look, source, out, state, ticket, n, local<u32>(2));
  same("inclusive", out.get(), inclusive);
}

static void scan_segments() {
  const int n = 3333, group = int(any(112));
  Random random{8};
  Vector<int> in(n), want(n);
  Vector<u8> heads(n);
  for (int i = 0; i < n; ++i) in[i] = int(random.below(2001)) - 1000, heads[i] = random.below(i < n / 2 ? 5 : 70) == 0;
  for (int i = 0; i < n; ++i) want[i] = in[i] + (i % group && !heads[i] ? want[i - 1] : 0);
  Array<int> source(in), out(n);
  Array<u8> flags(heads);
  run("scan_segments", n, group, source, flags, out, n, local<int>(group), local<int>(group));
  same("sums", out.get(), want);
}

static void sort_bitonic() {
  const int n = 2000, group = 128;
  Random random{9};
  Vector<u64> keys(n);
  for (int i = 0; i < n; ++i) keys[i] = u64(random.below(300)) << 32 | i;
  Vector<u64> want = keys;
  for (int from = 0; from < n; from += 2 * group) std::sort(want.begin() + from, want.begin() + std::min(n, from + 2 * group));
  Array<u64> array(keys);
  run("sort_bitonic", n / 2, group, array, n, local<u64>(2 * group));
  same("keys", array.get(), want);
}

static void sort_radix() {
  const int n = 3001, group = int(any(80, 16)), blocks = (n + group - 1) / group;
  Random random{10};
  Vector<u32> keys(n), places(n), wantKeys, wantPlaces;
  for (int i = 0; i < n; ++i) keys[i] = random.below(4) ? u32(random.next()) : random.below(50), places[i] = i;
  Vector<u32> order = places;
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return keys[a] < keys[b]; });
  for (u32 at : order) wantKeys.push_back(keys[at]), wantPlaces.push_back(at);
  Array<u32> a(keys), b(n), from(places), to(n), counts(16 * blocks), starts(16 * blocks);
  for (int shift = 0; shift < 32; shift += 4) {
    const bool odd = shift / 4 % 2;
    run("radix_count", n, group, odd ? b.data() : a.data(), counts, n, shift, blocks, local<u32>(16));
    Vector<u32> sums = counts.get();
    std::exclusive_scan(sums.begin(), sums.end(), sums.begin(), 0u);
    starts.put(sums);
    run("radix_place", n, group, odd ? b.data() : a.data(), starts, odd ? a.data() : b.data(), odd ? to.data() : from.data(),
        odd ? from.data() : to.data(), n, shift, blocks);
  }
  same("keys", a.get(), wantKeys);
  same("places", from.get(), wantPlaces);
}

// --- sparse and dense algebra --------------------------------------------------------------------

static void spmv() {
  const int rows = 517;
  Random random{11};
  Vector<int> starts{0}, columns;
  Vector<double> values, x(rows), want(rows);
  for (double &v : x) v = random.real(-1, 1);
  int width = 0;
  for (int row = 0; row < rows; ++row) {
    const int length = row % 50 == 7 ? 90 : int(random.below(9));
    for (int i = 0; i < length; ++i) {
      columns.push_back(random.below(rows)), values.push_back(random.real(-2, 2));
      want[row] += values.back() * x[columns.back()];
    }
    starts.push_back(int(columns.size()));
    width = std::max(width, length);
  }
  Vector<int> ell(width * rows, -1);
  Vector<double> ellValues(width * rows, std::nan(""));
  for (int row = 0; row < rows; ++row)
    for (int i = starts[row]; i < starts[row + 1]; ++i)
      ell[(i - starts[row]) * rows + row] = columns[i], ellValues[(i - starts[row]) * rows + row] = values[i];
  Array<int> s(starts), c(columns), e(ell);
  Array<double> v(values), ev(ellValues), in(x), y1(rows), y2(rows), y3(rows);
  run("spmv_rows", rows, any(40), s, c, v, in, y1, rows);
  close("rows", y1.get(), want, 1e-12, 0);
  // More groups than needed: a group has at least one sub-group.
  const std::size_t group = any(64);
  run("spmv_sub_groups", rows * group, group, s, c, v, in, y2, rows);
  near("sub-groups", y2.get(), want, 1e-12, 0);
  run<2>("spmv_ell", {11, 47}, {1, 47}, e, ev, in, y3, rows, width);
  close("ell", y3.get(), want, 1e-12, 0);
}

static void gauss_jordan() {
  const int systems = 13, size = 21, width = size + 1;
  Random random{12};
  Vector<double> in(systems * size * width), want(systems * size);
  Vector<int> errors(systems);
  for (int s = 0; s < systems; ++s) {
    double *a = &in[s * size * width];
    for (int i = 0; i < size; ++i) {
      want[s * size + i] = random.real(-3, 3);
      for (int j = 0; j < size; ++j) a[i * width + j] = i == j && s % 3 == 0 ? 0 : random.real(-1, 1);
    }
    // A column of zeros cannot be a pivot: its system is reported by number.
    if (s == 5)
      for (int i = 0; i < size; ++i) a[i * width + 8] = 0;
    for (int i = 0; i < size; ++i) {
      a[i * width + size] = 0;
      for (int j = 0; j < size; ++j) a[i * width + size] += a[i * width + j] * want[s * size + j];
    }
  }
  errors[5] = 9;
  for (int i = 0; i < size; ++i) want[5 * size + i] = -1;
  Array<double> source(in), out(systems * size, -1);
  Array<int> error(systems, 0);
  const std::size_t group = any(28, width);
  run("gauss_jordan", systems * group, group, source, out, error, size, local<double>(size, width));
  close("solutions", out.get(), want, 1e-9, 1e-9);
  same("errors", error.get(), errors);
}

static void lu_tile() {
  const int tiles = 9;
  Random random{13};
  Vector<float> in(tiles * 256);
  for (int i = 0; i < tiles * 256; ++i) in[i] = float(random.real(-1, 1)) + (i % 256 % 17 == 0 ? 16.0f : 0.0f);
  Vector<double> want(in.begin(), in.end());
  for (int t = 0; t < tiles; ++t) {
    double *a = &want[t * 256];
    for (int k = 0; k < 16; ++k)
      for (int i = k + 1; i < 16; ++i) {
        a[i * 16 + k] /= a[k * 16 + k];
        for (int j = k + 1; j < 16; ++j) a[i * 16 + j] -= a[i * 16 + k] * a[k * 16 + j];
      }
  }
  Array<float> array(in);
  run("lu_tile", tiles * 16, 16, array, local<float>(16, 16));
  close("factors", array.get(), want, 1e-5, 1e-5);
}

static void fft() {
  const int batches = 7;
  Random random{14};
  Vector<sycl::float2> in(batches * 256);
  for (auto &v : in) v = sycl::float2(random.real(-1, 1), random.real(-1, 1));
  Vector<double> want, again;
  for (int b = 0; b < batches; ++b)
    for (int k = 0; k < 256; ++k) {
      std::complex<double> sum = 0;
      for (int j = 0; j < 256; ++j)
        sum += std::complex<double>(in[b * 256 + j][0], in[b * 256 + j][1]) * std::polar(1.0, -2 * M_PI * (j * k % 256) / 256);
      want.push_back(sum.real()), want.push_back(sum.imag());
    }
  auto flat = [](const Vector<sycl::float2> &values) {
    Vector<float> f;
    for (const auto &v : values) f.push_back(v[0]), f.push_back(v[1]);
    return f;
  };
  for (float v : flat(in)) again.push_back(v);
  Array<sycl::float2> source(in), there(in.size()), back(in.size());
  run("fft", batches * 128, 128, source, there, -1, local<sycl::float2>(256));
  run("fft", batches * 128, 128, there, back, 1, local<sycl::float2>(256));
  near("there", flat(there.get()), want, 5e-5, 0);
  near("back", flat(back.get()), again, 5e-6, 0);
}

// --- random numbers ------------------------------------------------------------------------------

static void random_numbers() {
  const int n = 1003, draws = 23;
  Vector<u32> want;
  for (u32 i = 0; i < u32(n); ++i) {
    u32 s[5] = {123456789u ^ i * 2654435761u, 362436069u, 521288629u, 88675123u, 5783321u + i}, d = 6615241u, mixed = 0;
    for (int j = 0; j < draws; ++j) {
      const u32 t = s[0] ^ (s[0] >> 2);
      std::rotate(s, s + 1, s + 5);
      s[4] = (s[3] ^ (s[3] << 4)) ^ (t ^ (t << 1));
      d += 362437;
      mixed = (mixed << 5 | mixed >> 27) ^ (d + s[4]);
    }
    want.push_back(mixed);
  }
  Array<u32> out(n);
  run("random_xorwow", n, any(64), out, n, draws);
  same("xorwow", out.get(), want);

  want.clear();
  for (u32 i = 0; i < u32(n); ++i) {
    u32 c[4] = {i, 0, ~i, 7}, k0 = 0x12345678, k1 = 0x9abcdef0;
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const u64 p0 = u64(0xD2511F53u) * c[0], p1 = u64(0xCD9E8D57u) * c[2];
      const u32 next[4] = {u32(p1 >> 32) ^ c[1] ^ k0, u32(p1), u32(p0 >> 32) ^ c[3] ^ k1, u32(p0)};
      std::copy(next, next + 4, c);
    }
    want.insert(want.end(), c, c + 4);
  }
  Array<sycl::uint4> four(n);
  run("random_philox", n, any(48), four, n, sycl::uint2(0x12345678, 0x9abcdef0));
  Vector<u32> got;
  for (const auto &v : four.get())
    for (int d = 0; d < 4; ++d) got.push_back(v[d]);
  same("philox", got, want);
}

static void walks() {
  const int n = 777, box = 6, most = 150;
  Vector<int> want;
  u64 left = 0;
  for (int i = 0; i < n; ++i) {
    u64 state = u64(i) * 0x9E3779B97F4A7C15u + 1;
    int x = 0, y = 0, step = 0;
    for (; step < most; ++step) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      static const int dx[8] = {1, -1, 0, 0, 1, 0, 0, -1}, dy[8] = {0, 0, 1, -1, 1, 1, 0, -1};
      x += dx[state >> 61], y += dy[state >> 61];
      if (state >> 61 != 6 && x * x + y * y > box * box) { ++left; break; }
    }
    want.push_back(x >= 0 ? step : -step);
  }
  Array<int> steps(n);
  Array<u64> count(1, 0);
  run("walks", n, any(56), steps, count, n, box, most);
  same("steps", steps.get(), want);
  same("left", count.get(), {left});
}

// --- graphs --------------------------------------------------------------------------------------

static void floyd_warshall() {
  const int n = 53;
  Random random{16};
  Vector<int> want(n * n);
  for (int i = 0; i < n * n; ++i) want[i] = i % (n + 1) == 0 ? 0 : random.below(10) ? 1 << 28 : int(random.below(100));
  Array<int> distance(want);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) want[i * n + j] = std::min(want[i * n + j], want[i * n + k] + want[k * n + j]);
  for (int k = 0; k < n; ++k) run<2>("floyd_warshall", {n, n}, {4, 16}, distance, n, k);
  same("distances", distance.get(), want);
}

static void bfs() {
  const int n = 1501;
  Random random{17};
  Vector<Vector<int>> graph(n);
  for (int e = 0; e < 3 * n; ++e) {
    const int a = random.below(n), b = random.below(n);
    graph[a].push_back(b), graph[b].push_back(a);
  }
  Vector<int> starts{0}, neighbours, want(n, -1), level{0};
  for (const auto &of : graph) neighbours.insert(neighbours.end(), of.begin(), of.end()), starts.push_back(int(neighbours.size()));
  want[0] = 0;
  for (int depth = 1; !level.empty(); ++depth) {
    Vector<int> next;
    for (int v : level)
      for (int to : graph[v])
        if (want[to] < 0) want[to] = depth, next.push_back(to);
    level = next;
  }
  Vector<int> levels(n, -1);
  levels[0] = 0;
  Array<int> s(starts), e(neighbours), l(levels), a(n, 0), b(n, 0), count(1, 0);
  int length = 1;
  for (int depth = 1; length; ++depth) {
    count.put({0});
    run("bfs", length, any(32), s, e, l, depth % 2 ? a : b, length, depth % 2 ? b : a, count, depth);
    length = count.get()[0];
    if (length > n) return complain("a level has " + std::to_string(length) + " vertices");
  }
  same("levels", l.get(), want);
}

static void components() {
  const int n = 2001, edges = 1700;
  Random random{18};
  Vector<int> from(edges), to(edges), numbers(n), want(n);
  for (int e = 0; e < edges; ++e) from[e] = random.below(n), to[e] = random.below(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  want = numbers;
  for (bool changed = true; changed;) {
    changed = false;
    for (int e = 0; e < edges; ++e) {
      const int low = std::min(want[from[e]], want[to[e]]);
      changed |= want[from[e]] != low || want[to[e]] != low;
      want[from[e]] = want[to[e]] = low;
    }
  }
  Array<int> f(from), t(to), parents(numbers);
  run("components_join", edges, any(64), f, t, parents, edges);
  run("components_flatten", n, any(64), parents, n);
  same("components", parents.get(), want);
}

static void labels_settle() {
  const int n = 1000, group = int(any(72));
  Random random{19};
  Vector<int> labels(n), want(n), rounds;
  for (int i = 0; i < n; ++i) labels[i] = random.below(9) ? int(1 + random.below(1000)) : 0;
  for (int from = 0; from < n; from += group) {
    Vector<int> mine(group);
    for (int l = 0; l < group && from + l < n; ++l) mine[l] = labels[from + l];
    int round = 0;
    for (bool changed = true; changed; ++round) {
      Vector<int> next(group);
      for (int l = 0; l < group; ++l)
        if (mine[l]) next[l] = std::max({mine[l], l ? mine[l - 1] : 0, l + 1 < group ? mine[l + 1] : 0});
      changed = next != mine;
      mine = next;
    }
    rounds.push_back(round);
    for (int l = 0; l < group && from + l < n; ++l) want[from + l] = mine[l];
  }
  Array<int> array(labels), count(rounds.size());
  run("labels_settle", n, group, array, count, n, local<int>(group));
  same("labels", array.get(), want);
  same("rounds", count.get(), rounds);
}

// --- clustering, alignment, text -----------------------------------------------------------------

static void k_means() {
  const int n = 1777, k = 11;
  Random random{20};
  Vector<int> points(3 * n), centres(3 * k);
  for (int &v : points) v = int(random.below(200001)) - 100000;
  for (int &v : centres) v = int(random.below(200001)) - 100000;
  Array<int> p(points), c(centres);
  for (int round = 0; round < 4; ++round) {
    Vector<u8> want(n);
    Vector<u64> sums(3 * k);
    Vector<u32> counts(k);
    for (int i = 0; i < n; ++i) {
      auto distance = [&](int to) {
        long sum = 0;
        for (int d = 0; d < 3; ++d) sum += long(points[d * n + i] - centres[d * k + to]) * long(points[d * n + i] - centres[d * k + to]);
        return sum;
      };
      for (int to = 1; to < k; ++to)
        if (distance(to) < distance(want[i])) want[i] = u8(to);
      ++counts[want[i]];
      for (int d = 0; d < 3; ++d) sums[d * k + want[i]] += u64(std::int64_t(points[d * n + i]));
    }
    Array<u8> nearest(n);
    Array<u64> total(3 * k, 0);
    Array<u32> number(k, 0);
    run("k_means", n, any(88), p, c, nearest, total, number, n, k, local<u64>(3 * k), local<u32>(k));
    same("nearest", nearest.get(), want);
    same("sums", total.get(), sums);
    same("counts", number.get(), counts);
    for (int j = 0; j < 3 * k; ++j)
      if (counts[j % k]) centres[j] = int(std::int64_t(sums[j]) / std::int64_t(counts[j % k]));
    c.put(centres);
  }
}

static void smith_waterman() {
  const int pairs = 17, longest = 61;
  Random random{21};
  Vector<char> a(pairs * longest, '-'), b(pairs * longest, '+');
  Vector<int> lengths, want;
  for (int p = 0; p < pairs; ++p) {
    const int m = p ? int(random.below(longest + 1)) : longest, n = p ? int(random.below(longest + 1)) : longest;
    lengths.push_back(m), lengths.push_back(n);
    for (int i = 0; i < m; ++i) a[p * longest + i] = "ACGT"[random.below(4)];
    for (int j = 0; j < n; ++j) b[p * longest + j] = random.below(3) && j < m ? a[p * longest + j] : "ACGT"[random.below(4)];
    Vector<Vector<int>> h(m + 1, Vector<int>(n + 1));
    int best = 0;
    for (int i = 1; i <= m; ++i)
      for (int j = 1; j <= n; ++j) {
        h[i][j] = std::max({0, h[i - 1][j - 1] + (a[p * longest + i - 1] == b[p * longest + j - 1] ? 5 : -3), h[i - 1][j] - 4, h[i][j - 1] - 4});
        best = std::max(best, h[i][j]);
      }
    want.push_back(best);
  }
  Array<char> x(a), y(b);
  Array<int> l(lengths), scores(pairs);
  const std::size_t group = any(40);
  run("smith_waterman", pairs * group, group, x, y, l, longest, scores, local<int>(3 * (longest + 1)));
  same("scores", scores.get(), want);
}

static void find_text() {
  const int n = 4099;
  Random random{22};
  const std::string pattern = "ab?a";
  Vector<char> in(n);
  for (char &c : in) c = "aab"[random.below(3)];
  Vector<int> want;
  for (int i = 0; i + 4 <= n; ++i)
    if (in[i] == 'a' && in[i + 1] == 'b' && in[i + 3] == 'a') want.push_back(i);
  Array<char> source(in), p(Vector<char>(pattern.begin(), pattern.end()));
  Array<int> places(n), few(5), found(1, 0);
  run("find_text", n, any(100), source, n, p, 4, places, found, n);
  same("found", found.get(), {int(want.size())});
  Vector<int> got = places.get();
  got.resize(want.size());
  std::sort(got.begin(), got.end());
  same("places", got, want);
  found.put({0});
  run("find_text", n, any(100), source, n, p, 4, few, found, 5);
  same("found with little room", found.get(), {int(want.size())});
}

// --- integers, bytes, bits -----------------------------------------------------------------------

static Vector<u32> sha256_of(Vector<u8> message) {
  // Constants by their definition: fractions of the roots of primes.
  Vector<u32> k, h;
  for (u32 p = 2; k.size() < 64; ++p) {
    bool prime = true;
    for (u32 d = 2; d * d <= p; ++d) prime &= p % d != 0;
    if (!prime) continue;
    auto fraction = [](long double v) { return u32((v - std::floor(v)) * 4294967296.0L); };
    k.push_back(fraction(std::cbrt((long double)p)));
    if (h.size() < 8) h.push_back(fraction(std::sqrt((long double)p)));
  }
  const u64 bits = message.size() * 8;
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int i = 7; i >= 0; --i) message.push_back(u8(bits >> (8 * i)));
  auto turn = [](u32 v, int by) { return v >> by | v << (32 - by); };
  for (std::size_t at = 0; at < message.size(); at += 64) {
    u32 w[64];
    for (int i = 0; i < 64; ++i)
      if (i < 16)
        w[i] = u32(message[at + 4 * i]) << 24 | u32(message[at + 4 * i + 1]) << 16 | u32(message[at + 4 * i + 2]) << 8 | message[at + 4 * i + 3];
      else
        w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    for (int i = 0; i < 64; ++i) {
      const u32 t1 = last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
      const u32 t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      last = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const u32 now[8] = {a, b, c, d, e, f, g, last};
    for (int i = 0; i < 8; ++i) h[i] += now[i];
  }
  return h;
}
static void sha256() {
  const int n = 131;
  Random random{23};
  Vector<u8> messages(n * 120);
  Vector<int> lengths;
  Vector<u32> want;
  for (u8 &b : messages) b = u8(random.next());
  for (int i = 0; i < n; ++i) {
    lengths.push_back(i % 120);
    const Vector<u32> one = sha256_of(Vector<u8>(&messages[i * 120], &messages[i * 120] + lengths[i]));
    want.insert(want.end(), one.begin(), one.end());
  }
  if (want[0] != 0xe3b0c442) complain("the reference is wrong");
  Array<u8> m(messages);
  Array<int> l(lengths);
  Array<u32> digests(8 * n);
  run("sha256", n, any(24), m, l, digests, n);
  same("digests", digests.get(), want);
}

static void aes128() {
  const int blocks = 201;
  Random random{24};
  auto twice = [](u8 b) { return u8(b << 1 ^ (b >> 7) * 0x1b); };
  auto times = [&](u8 a, u8 b) {
    u8 product = 0;
    for (; b; b >>= 1, a = twice(a))
      if (b & 1) product ^= a;
    return product;
  };
  Vector<u8> box(256), keys(176);
  for (int i = 0; i < 256; ++i) {
    u8 inverse = 0;
    for (int j = 1; j < 256; ++j)
      if (times(u8(i), u8(j)) == 1) inverse = u8(j);
    u8 b = 0x63;
    for (int r = 0; r < 5; ++r) b ^= u8(inverse << r | inverse >> (8 - r));
    box[i] = b;
  }
  for (int i = 0; i < 16; ++i) keys[i] = u8(i);
  for (int i = 16, round = 1; i < 176; i += 4) {
    u8 t[4] = {keys[i - 4], keys[i - 3], keys[i - 2], keys[i - 1]};
    if (i % 16 == 0) {
      std::rotate(t, t + 1, t + 4);
      for (u8 &b : t) b = box[b];
      t[0] ^= u8(round), round = twice(u8(round));
    }
    for (int j = 0; j < 4; ++j) keys[i + j] = keys[i + j - 16] ^ t[j];
  }
  Vector<u8> in(blocks * 16), want;
  for (int i = 0; i < blocks * 16; ++i) in[i] = i < 16 ? u8(i * 17) : u8(random.next());
  for (int block = 0; block < blocks; ++block) {
    u8 s[4][4];
    for (int i = 0; i < 16; ++i) s[i % 4][i / 4] = in[block * 16 + i] ^ keys[i];
    for (int round = 1; round <= 10; ++round) {
      for (int r = 0; r < 4; ++r) {
        for (u8 &b : s[r]) b = box[b];
        std::rotate(s[r], s[r] + r, s[r] + 4);
      }
      for (int c = 0; c < 4 && round < 10; ++c) {
        const u8 a[4] = {s[0][c], s[1][c], s[2][c], s[3][c]};
        for (int r = 0; r < 4; ++r) s[r][c] = times(a[r], 2) ^ times(a[(r + 1) % 4], 3) ^ a[(r + 2) % 4] ^ a[(r + 3) % 4];
      }
      for (int i = 0; i < 16; ++i) s[i % 4][i / 4] ^= keys[round * 16 + i];
    }
    for (int i = 0; i < 16; ++i) want.push_back(s[i % 4][i / 4]);
  }
  if (want[0] != 0x69 || want[15] != 0x5a) complain("the reference is wrong");
  Array<u8> table(box), k(keys), source(in), out(in.size());
  run("aes128", blocks, any(60), table, k, reinterpret_cast<sycl::uchar4 *>(source.data()), reinterpret_cast<sycl::uchar4 *>(out.data()), blocks,
      Scratch<u8[256]>());
  same("blocks", out.get(), want);
}

static void crc32() {
  const int n = 97;
  Random random{25};
  Vector<u8> in;
  Vector<int> starts{0};
  Vector<u32> want;
  for (int i = 0; i < n; ++i) {
    u32 c = ~0u;
    for (int length = i == 0 ? 0 : int(random.below(150)); length > 0; --length) {
      in.push_back(u8(random.next()));
      c ^= in.back();
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    starts.push_back(int(in.size()));
    want.push_back(~c);
  }
  Array<u8> source(in);
  Array<int> s(starts);
  Array<u32> out(n);
  run("crc32", n, any(33), source, s, out, n, local<u32>(256));
  same("sums", out.get(), want);
}

static void integer_functions() {
  const int n = 509, rows = 24;
  Random random{26};
  Vector<int> a(n), b(n);
  const int special[] = {0, 1, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 255, 256, -128};
  for (int i = 0; i < n; ++i)
    if (i < 64) a[i] = special[i % 8], b[i] = special[i / 8];
    else a[i] = int(random.next() >> random.below(60)), b[i] = int(random.next() >> random.below(60));
  Vector<u64> want(rows * n);
  for (int i = 0; i < n; ++i) {
    using i64 = std::int64_t;
    using wide = __int128;
    const int x = a[i], y = b[i];
    const u32 u = u32(x), v = u32(y);
    int row = 0;
    auto put = [&](u64 value) { want[row++ * n + i] = value; };
    auto saturated = [](i64 value, i64 low, i64 high) { return std::min(high, std::max(low, value)); };
    put(__builtin_popcount(u));
    put(u ? __builtin_clz(u) : 32);
    put(u ? __builtin_ctz(u) : 32);
    put(v & 31 ? u32(u << (v & 31) | u >> (32 - (v & 31))) : u);
    put(u32(i64(x) * y >> 32));
    put(u64(u) * v >> 32);
    put(u32((i64(x) + y) >> 1));
    put(u32((i64(x) + y + 1) >> 1));
    put(u32(std::abs(i64(x) - y)));
    put(u32(saturated(i64(x) + y, std::numeric_limits<int>::min(), std::numeric_limits<int>::max())));
    put(u32(saturated(i64(x) - y, std::numeric_limits<int>::min(), std::numeric_limits<int>::max())));
    put(std::min(255, int(u8(u)) + int(u8(v))));
    put(u8(saturated(i64(std::int8_t(x)) - std::int8_t(y), -128, 127)));
    put(u32(u32((x % 4096) * (y % 2048)) + u));
    put(u64((unsigned __int128)(u64(u) << 20 | v) * (u64(v) << 24 | u) >> 64) + u64(i64(x)));
    put(u64(u) << 32 | v);
    put((u & ~0x00ff0ff0u) | (v & 0x00ff0ff0u));
    const int by = y == -1 ? 3 : y;
    put(y ? u32(i64(x) / by) : 0);
    put(y ? u32(i64(x) % by) : 0);
    put(v ? (u64(u) << 31 | v) / v : 0);
    put(u64(wide(i64(u64(u) << 33 | v)) >> (v & 63)));
    put(u32(int(std::int16_t(x)) * int(std::int16_t(y))) >> 7);
    put(u32(std::min(std::max(x, -1000), y & 0xffff)));
    put(u32(u16(u + v)) | (((u >> 16) + (v >> 16)) << 16));
  }
  Array<int> first(a), second(b);
  Array<u64> out(rows * n);
  run("integer_functions", n, any(64), first, second, out, n);
  same("functions", out.get(), want);
}

static void pixels() {
  const int n = 1021;
  Random random{27};
  Vector<u8> a(4 * n), b(4 * n), want(4 * n);
  for (u8 &v : a) v = u8(random.next());
  for (u8 &v : b) v = u8(random.next());
  for (int i = 0; i < n; ++i) {
    u8 chosen[3];
    for (int d = 0; d < 3; ++d) {
      const u8 p = a[4 * i + d], q = b[4 * i + d];
      chosen[d] = p < q ? u8(u32(p * 77 + q * 150) >> 8) : u8(std::min(255, p + q));
    }
    for (int d = 0; d < 3; ++d) want[4 * i + d] = chosen[2 - d];
    want[4 * i + 3] = std::max(a[4 * i + 3], b[4 * i + 3]);
  }
  Array<u8> first(a), second(b), out(4 * n);
  auto four = [](const Array<u8> &array) { return reinterpret_cast<sycl::uchar4 *>(array.data()); };
  run("pixels", n, any(52), four(first), four(second), four(out), n);
  same("pixels", out.get(), want);
}

static void life_words() {
  const int rows = 37, words = 3, columns = 64 * words;
  Random random{28};
  Vector<u64> cells(rows * words);
  for (u64 &v : cells) v = random.next() & random.next();
  Vector<u64> want = cells;
  for (int generation = 0; generation < 5; ++generation) {
    Vector<u64> next(rows * words);
    auto alive = [&](int y, int x) {
      y = (y + rows) % rows, x = (x + columns) % columns;
      return int(want[y * words + x / 64] >> (x % 64) & 1);
    };
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        int around = -alive(y, x);
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) around += alive(y + dy, x + dx);
        if (around == 3 || (around == 2 && alive(y, x))) next[y * words + x / 64] |= u64(1) << (x % 64);
      }
    want = next;
  }
  Array<u64> a(cells), b(cells.size());
  for (int generation = 0; generation < 5; ++generation)
    run<2>("life_words", {rows, words}, {8, 2}, generation % 2 ? b : a, generation % 2 ? a : b, rows, words);
  same("cells", b.get(), want);
}

static u32 queens_below(int size, int row, u32 columns, u32 up, u32 down) {
  if (row == size) return 1;
  u32 count = 0;
  for (int c = 0; c < size; ++c) {
    const u32 bit = 1u << c;
    if (!((columns | up | down) & bit)) count += queens_below(size, row + 1, columns | bit, (up | bit) << 1, (down | bit) >> 1);
  }
  return count;
}
static void queens() {
  const int size = 8;
  Vector<u32> want(size * size);
  for (int i = 0; i < size * size; ++i) {
    const int first = i % size, second = i / size;
    if (std::abs(first - second) > 1)
      want[i] = queens_below(size, 2, 1u << first | 1u << second, (1u << first << 1 | 1u << second) << 1, (1u << first >> 1 | 1u << second) >> 1);
  }
  if (std::accumulate(want.begin(), want.end(), 0u) != 92) complain("the reference is wrong");
  Array<u32> solutions(size * size);
  run("queens", size * size, any(24), solutions, size, size * size);
  same("solutions", solutions.get(), want);
}

static void interpret_bytes() {
  const int n = 301;
  Random random{30};
  Vector<u8> programs;
  Vector<int> starts, want;
  for (int i = 0; i < n; ++i) {
    starts.push_back(int(programs.size()));
    const std::size_t from = programs.size();
    for (int length = 3 + int(random.below(30)); length > 0; --length) {
      u8 code = u8(1 + random.below(255));
      // No loop begins before its program.
      if ((code & 7) == 7) code = u8(7 | std::min<std::size_t>(code >> 3, programs.size() - from + 1) << 3);
      programs.push_back(code);
    }
    programs.push_back(0);
    int stack[8] = {}, top = 0, steps = 0;
    for (std::size_t at = from; steps < 500; ++steps) {
      const u8 code = programs[at++];
      if (code == 0) break;
      auto slot = [&](int below) -> int & { return stack[u32(top - below) % 8]; };
      if ((code & 7) == 1) ++top, slot(0) = code >> 3;
      else if ((code & 7) == 2) slot(1) = int(u32(slot(1)) + u32(slot(0))), --top;
      else if ((code & 7) == 3) slot(1) = int(u32(slot(1)) * u32(slot(0))), --top;
      else if ((code & 7) == 4) slot(1) = int(u32(slot(1)) - u32(slot(0))), --top;
      else if ((code & 7) == 5) std::swap(slot(0), slot(1));
      else if ((code & 7) == 6) slot(0) = slot(0) & 1 ? int(3 * u32(slot(0)) + 1) : slot(0) / 2;
      else if ((code & 7) == 7) {
        if (slot(0) > 0) --slot(0), at -= code >> 3;
      } else {
        const int value = slot(0) ^ code;
        ++top, slot(0) = value;
      }
    }
    want.push_back(int(u32(stack[u32(top) % 8]) + (u32(steps) << 16)));
  }
  Array<u8> p(programs);
  Array<int> s(starts), results(n);
  run("interpret_bytes", n, any(36), p, s, results, n);
  same("results", results.get(), want);
}

// --- groups and atomics --------------------------------------------------------------------------

static void group_functions() {
  const int n = 613, group = 8 * (1 + int(any(10)) % 64), groups = 9, items = group * groups, rows = 20;
  Random random{31};
  Vector<int> in(n);
  for (int &v : in) v = int(random.below(1000));
  Array<int> source(in), out(rows * items);
  run("group_functions", items, group, source, out, n);
  const Vector<int> got = out.get();
  Vector<int> want(rows * items);
  int sub = 0;
  for (int from = 0; from < items; from += group) {
    for (int l = 0; l < group; ++l) {
      // The sub-groups that there are: consecutive work-items; their sizes are multiples of eight, as the group's is.
      const int told = got[19 * items + from + l] / 1000;
      if (l == 0 || told != got[19 * items + from + l - 1] / 1000) sub = from + l;
      int end = sub;
      while (end < from + group && got[19 * items + end] / 1000 == told) ++end;
      const int i = from + l, lane = i - sub, size = end - sub;
      auto x = [&](int at) { return in[at % n]; };
      auto over = [&](int low, int high, int start, auto with) {
        for (int at = low; at < high; ++at) start = with(start, x(at));
        return start;
      };
      auto plus = [](int a, int b) { return a + b; };
      auto least = [](int a, int b) { return std::min(a, b); };
      auto most = [](int a, int b) { return std::max(a, b); };
      int row = 0;
      auto put = [&](int value) { want[row++ * items + i] = value; };
      put(x(from + 5));
      put(x(sub + 3));
      put(over(from, from + group, 0, plus));
      put(over(from, from + group, 7, least));
      put(over(sub, end, -1, most));
      put(over(from, from + group, 0, [](int a, int b) { return a ^ b; }));
      put(over(from, i + 1, 0, plus));
      put(over(from, i, -3, most));
      put(over(sub, i + 1, 0, [](int a, int b) { return a | b; }));
      put(over(from, from + group, 0, [&](int a, int b) { return a | (b == in[0]); }));
      put(over(sub, end, 1, [&](int a, int b) { return a & (b != in[1]); }));
      put(over(from, from + group, 1, [](int a, int b) { return a & (b <= 900); }));
      put(lane > 0 ? x(i - 1) : -1);
      put(lane + 2 < size ? x(i + 2) : -2);
      put(x(sub + (lane ^ 5)));
      put(x(sub + (lane * 7 + 3) % size));
      put(std::accumulate(in.begin(), in.end(), 0));
      put(std::count(in.begin(), in.end(), 77) > 0);
      put(over(sub, end, 0, [](int a, int b) { return a + (b & 1); }));
      put(told * 1000 + size);
    }
  }
  same("functions", got, want);

  Array<int> scanned(3 * n);
  const std::size_t scanning = any(50);
  run("joint_scan", 3 * scanning, scanning, source, scanned, n);
  Vector<int> sums;
  for (int g = 0; g < 3; ++g)
    for (int i = 0, sum = g; i < n; sum += in[i++]) sums.push_back(sum);
  same("joint scan", scanned.get(), sums);
}

static void atomics() {
  const int n = 1999;
  Random random{32};
  Vector<int> in(n);
  for (int &v : in) v = int(random.below(2'000'001)) - 1'000'000;
  Vector<int> ints{1 << 30, -(1 << 30), -1, 0, 0, 0};
  Vector<u64> longs(2);
  Vector<float> floats{0, 1e9f, -1e9f};
  Vector<double> doubles(2);
  Array<int> source(in), i(ints);
  Array<u64> l(longs);
  Array<float> f(floats);
  Array<double> d(doubles);
  run("atomics", n, any(72), source, n, i, l, f, d);
  for (int x : in) {
    ints[0] = std::min(ints[0], x), ints[1] = std::max(ints[1], x), ints[2] &= x | 0x7000, ints[3] |= int(1u << (x & 31));
    ints[4] ^= x, ints[5] = int(u32(ints[5]) - u32(x));
    longs[0] += u64(std::int64_t(x)) << 20, longs[1] = std::max(longs[1], u64(u32(x)) * 0x100000001u);
    floats[0] += float(x & 15), floats[1] = std::min(floats[1], float(x) / 8), floats[2] = std::max(floats[2], float(x) / 8);
    doubles[0] += x, doubles[1] += double(x) * x;
  }
  same("ints", i.get(), ints);
  same("longs", l.get(), longs);
  same("floats", f.get(), floats);
  same("doubles", d.get(), doubles);

  Array<int> slot(1, n), taken(n);
  run("exchanges", n, any(72), slot, taken, n);
  Vector<int> all = taken.get(), numbers(n + 1);
  all.push_back(slot.get()[0]);
  std::sort(all.begin(), all.end());
  std::iota(numbers.begin(), numbers.end(), 0);
  same("exchanged", all, numbers);
}

static void sum_last_group() {
  const int n = 7777, groups = 19, group = int(any(40, 19));
  Vector<float> in(n);
  double want = 0;
  for (int i = 0; i < n; ++i) in[i] = float(i % 97), want += in[i];
  Array<float> source(in), partial(groups), out(1);
  Array<u32> arrived(1, 0);
  run("sum_last_group", groups * group, group, source, partial, arrived, out, n, local<int>(1));
  // Whole numbers below 2^24: exact in any order.
  same("sum", out.get(), {float(want)});
  same("arrived", arrived.get(), {u32(groups)});
}

static void hash_table() {
  const int n = 1500;
  const u32 slots = 1024;
  Random random{33};
  Vector<u64> keys(n);
  std::map<u64, u32> want;
  for (u64 &key : keys) key = Random{random.below(700) + 1000}.next(), ++want[key];
  Array<u64> k(keys), table(slots, 0);
  Array<u32> counts(slots, 0);
  Array<int> error(1, 0);
  run("hash_table", n, any(48), k, n, table, counts, slots - 1, error);
  Vector<std::pair<u64, u32>> found;
  const Vector<u64> t = table.get();
  const Vector<u32> c = counts.get();
  for (u32 i = 0; i < slots; ++i)
    if (t[i]) found.emplace_back(t[i], c[i]);
  std::sort(found.begin(), found.end());
  Vector<u64> got, should;
  for (const auto &[key, count] : found) got.push_back(key), got.push_back(count);
  for (const auto &[key, count] : want) should.push_back(key), should.push_back(count);
  same("table", got, should);
  same("no error", error.get(), {0});
  // A table that is too small, and a key that is none.
  Array<u64> small(256, 0);
  Array<u32> few(256, 0);
  run("hash_table", n, any(48), k, n, small, few, 255u, error);
  same("full", error.get(), {2});
  keys[77] = 0;
  k.put(keys);
  error.put({0});
  run("hash_table", 100, any(20), k, 100, table, counts, slots - 1, error);
  same("no key", error.get(), {1});
}

static void validate() {
  const int n = 1234, group = int(any(64));
  struct Record {
    int id;
    short kind;
    u8 flags;
    float weight;
  };
  Random random{34};
  for (int bad = -1; bad < 6; ++bad) {
    Vector<Record> records(n);
    for (auto &r : records) r = {int(random.below(1000)), short(int(random.below(19)) - 9), u8(random.next() & 0x7f), float(random.real(-1, 1))};
    Vector<u32> good((n + group - 1) / group);
    u64 first = ~u64(0);
    for (int i = 0; i < n; ++i) {
      if (bad < 0 || i % 389 != 300) { ++good[i / group]; continue; }
      const int code = 1 + (bad + i / 389) % 5;
      if (code == 1) records[i].id = -4;
      if (code == 2) records[i].kind = -10;
      if (code == 3) records[i].flags |= 0x81;
      if (code == 4) records[i].weight = std::nanf("");
      if (code == 5) records[i].weight = -INFINITY;
      first = std::min(first, u64(i) << 8 | code);
    }
    Array<Record> source(records);
    Array<u64> error(1, ~u64(0));
    Array<u32> counts(good.size());
    run("validate", n, group, source, n, error, counts);
    same("first error", error.get(), {first});
    same("good records", counts.get(), good);
  }
}

// --- numbers -------------------------------------------------------------------------------------

// Bounds are those of OpenCL's numerical table in units of the last place; the gamma functions have none there.
template <class T> static void functions(const char *kernel) {
  const int n = 401;
  Random random{35};
  Vector<T> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = T(random.real(-6, 6)), b[i] = T(random.real(0.01, 9));
  a[0] = 0, a[1] = T(-0.5), a[2] = T(2.5), a[3] = T(1e-30), b[1] = 1, b[2] = 2, b[3] = T(1e-5);
  struct Row {
    const char *name;
    double ulps;
    long double (*want)(T, T);
  };
  using L = long double;
  static const Row rows[] = {
      {"erf", 16, [](T x, T) { return std::erf(L(x)); }},
      {"erfc", 16, [](T x, T) { return std::erfc(L(x)); }},
      {"lgamma", -1, [](T, T y) { return std::lgamma(L(y)); }},
      {"tgamma", 16, [](T, T y) { return std::tgamma(L(y)); }},
      {"pow", 16, [](T x, T y) { return std::pow(L(y), L(x)); }},
      {"exp", 3, [](T x, T) { return std::exp(L(x)); }},
      {"log", 3, [](T, T y) { return std::log(L(y)); }},
      {"log1p", 2, [](T, T y) { return std::log1p(L(y)); }},
      {"expm1", 3, [](T x, T) { return std::expm1(L(x)); }},
      {"cbrt", 2, [](T x, T) { return std::cbrt(L(x)); }},
      {"hypot", 4, [](T x, T y) { return std::hypot(L(x), L(y)); }},
      {"atan2", 6, [](T x, T y) { return std::atan2(L(x), L(y)); }},
      {"sin", 4, [](T x, T) { return std::sin(L(x)); }},
      {"cos", 4, [](T x, T) { return std::cos(L(x)); }},
      {"tan", 5, [](T x, T) { return std::tan(L(x)); }},
      {"asin", 4, [](T x, T) { return std::asin(L(x) / 8); }},
      {"acosh", 4, [](T, T y) { return std::acosh(L(T(y + 1))); }},
      {"tanh", 5, [](T x, T) { return std::tanh(L(x)); }},
      {"fmod", 0, [](T x, T y) { return std::fmod(L(x), L(y)); }},
      {"remainder", 0, [](T x, T y) { return std::remainder(L(x), L(y)); }},
      {"exp2", 3, [](T x, T) { return std::exp2(L(x)); }},
      {"log10", 3, [](T, T y) { return std::log10(L(y)); }},
      {"sqrt", 3, [](T, T y) { return std::sqrt(L(y)); }},
      {"floor", 0, [](T x, T) { return std::floor(L(x)); }},
      {"rint", 0, [](T x, T) { return std::rint(L(x)); }},
      {"round", 0, [](T x, T) { return std::round(L(x)); }},
      {"trunc", 0, [](T x, T) { return std::trunc(L(x)); }},
      {"frexp", 0, [](T x, T) { int e; const T f = std::frexp(x, &e); return L(f + T(e)); }},
      {"ldexp", 0, [](T x, T) { return std::ldexp(L(x), 3); }},
      {"copysign", 0, [](T x, T y) { return std::copysign(L(y), L(x)); }},
      {"nextafter", 0, [](T x, T y) { return L(std::nextafter(x, y)); }},
      {"fma", 0, [](T x, T y) { return L(std::fma(x, y, x)); }},
      {"fdim", 0, [](T x, T y) { return L(std::fdim(x, y)); }},
      {"pown", 16, [](T x, T) { return L(x) * L(x) * L(x); }},
      {"rootn", 16, [](T, T y) { return std::cbrt(L(y)); }},
      {"ilogb", 0, [](T, T y) { return L(std::ilogb(y)); }},
      {"modf", 0, [](T x, T) { T whole; const T part = std::modf(x, &whole); return L(part - whole); }},
  };
  Array<T> first(a), second(b), out(n * std::size(rows));
  run(kernel, n, any(64), first, second, out, n);
  const Vector<T> got = out.get();
  for (std::size_t r = 0; r < std::size(rows); ++r) {
    double worst = -1;
    int where = 0;
    for (int i = 0; i < n; ++i) {
      const L want = rows[r].want(a[i], b[i]), difference = std::abs(L(got[r * n + i]) - want);
      const T near = std::max(std::abs(T(want)), std::numeric_limits<T>::min());
      L unit = L(std::nextafter(near, std::numeric_limits<T>::infinity())) - L(near);
      // Next to its zeros at 1 and 2 the logarithm of the gamma function is as exact as near 1.
      if (rows[r].ulps < 0) unit = std::max(unit, L(std::numeric_limits<T>::epsilon()));
      const double ulps = difference == 0 ? 0 : double(difference / unit);
      if (!(ulps <= worst)) worst = ulps, where = i;
    }
    const double bound = rows[r].ulps < 0 ? 16 : rows[r].ulps == 0 ? 0 : rows[r].ulps;
    if (!(worst <= bound))
      complain(std::string(rows[r].name) + "(" + text(a[where]) + ", " + text(b[where]) + ") is " + text(got[r * n + where]) + ", should be " +
               text(double(rows[r].want(a[where], b[where]))) + ": " + text(worst) + " units of the last place");
  }
}
static void functions_double() { functions<double>("functions_double"); }
static void functions_float() { functions<float>("functions_float"); }

static void standard_functions() {
  const int n = 203;
  Random random{36};
  Vector<double> a(n), b(n), want(16 * n);
  for (int i = 0; i < n; ++i) a[i] = random.real(-4, 4), b[i] = random.real(0.1, 5);
  for (int i = 0; i < n; ++i) {
    using C = std::complex<double>;
    const C z(a[i], b[i]), w(b[i], -a[i] / 3);
    const C values[] = {z * w, z / w, std::exp(z * 0.25), std::sqrt(z), std::log(w), std::polar(b[i], a[i]),
                        C(std::erf(a[i]), std::lgamma(b[i])), C(std::fmax(a[i], b[i]), std::abs(z))};
    for (int r = 0; r < 8; ++r) want[2 * r * n + i] = values[r].real(), want[(2 * r + 1) * n + i] = values[r].imag();
  }
  Array<double> first(a), second(b), out(16 * n);
  run("standard_functions", n, any(32), first, second, out, n);
  near("functions", out.get(), want, 1e-14, 1e-14);
}

static void halves() {
  const int n = 1001;
  Random random{37};
  Vector<u16> a(n), b(n), want(8 * n);
  Vector<float> wide;
  for (int i = 0; i < n; ++i) {
    // Between 2^-10 and 2^5, so that sums of products are exact in double.
    a[i] = u16(random.below(2) << 15 | (5 + random.below(15)) << 10 | random.below(1024));
    b[i] = u16(random.below(2) << 15 | (5 + random.below(15)) << 10 | random.below(1024));
    const double x = of_half(a[i]), y = of_half(b[i]);
    const double values[] = {x + y, x * y, x - of_half(half_of(0.5 * y)), x / y, std::sqrt(std::abs(x)), x * y + x, float(i) * 17.03f, std::min(x, y)};
    for (int r = 0; r < 8; ++r) want[r * n + i] = half_of(values[r]);
    wide.push_back(float(x) + (x < y));
  }
  auto half = [](const Array<u16> &array) { return reinterpret_cast<sycl::half *>(array.data()); };
  Array<u16> first(a), second(b), out(8 * n);
  Array<float> floats(n);
  run("halves", n, any(68), half(first), half(second), half(out), floats, n);
  same("halves", out.get(), want);
  same("floats", floats.get(), wide);

  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += of_half(a[i]) * of_half(b[i]);
  Array<float> dot(1);
  const std::size_t group = any(50);
  run("halves_dot", group, group, reinterpret_cast<sycl::half2 *>(first.data()), reinterpret_cast<sycl::half2 *>(second.data()), dot, 500);
  near("dot", dot.get(), {sum}, 0.01, 0);
}

static void small_floats() {
  const int n = 777;
  Random random{38};
  Vector<float> in(n), back;
  Vector<u16> want;
  auto bits = [](float value) {
    u32 u;
    std::memcpy(&u, &value, 4);
    return u16((u + 0x7fff + (u >> 16 & 1)) >> 16);
  };
  auto value = [](u16 b) {
    const u32 u = u32(b) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  };
  for (int i = 0; i < n; ++i) {
    in[i] = i % 5 ? float(random.real(-1000, 1000)) : value(u16(16000 + i)) * 1.00390625f;
    want.push_back(bits(in[i]));
    back.push_back(value(bits(value(want[i]) * 3)));
  }
  Array<float> source(in), out(n);
  Array<u16> small(n);
  run("small_floats", n, any(64), source, small, out, n);
  same("bfloat16", small.get(), want);
  same("times three", out.get(), back);
}

static void conversions() {
  const int n = 500;
  Random random{39};
  Vector<double> in(n);
  Vector<int> ints, rounded;
  Vector<u64> longs;
  Vector<u8> bytes;
  for (int i = 0; i < n; ++i) {
    const double x = in[i] = i < 40 ? (i - 20) / 2.0 : random.real(-400, 400) * (i % 3 ? 1 : 1e6);
    ints.push_back(int(x)), longs.push_back(u64(std::int64_t(x * 1e6))), bytes.push_back(u8(std::min(255.0, std::max(0.0, x))));
    for (double r : {std::nearbyint(x), std::trunc(x), std::ceil(x), std::floor(x)}) rounded.push_back(int(r));
  }
  Array<double> source(in);
  Array<int> i(n), r(4 * n);
  Array<u64> l(n);
  Array<u8> b(n);
  run("conversions", n, any(100), source, n, i, l, b, reinterpret_cast<sycl::int4 *>(r.data()));
  same("ints", i.get(), ints);
  same("longs", l.get(), longs);
  same("bytes", b.get(), bytes);
  same("rounded", r.get(), rounded);
}

static void particles() {
  const int n = 601;
  const float step = 0.125f;
  Random random{40};
  Vector<sycl::float3> at(n), speed(n);
  Vector<int> kinds(n);
  Vector<double> want, energy;
  for (int i = 0; i < n; ++i) {
    at[i] = sycl::float3(random.real(-2, 2), random.real(-2, 2), random.real(-2, 2));
    speed[i] = sycl::float3(random.real(-2, 2), random.real(-2, 2), random.real(-2, 2));
    kinds[i] = random.below(100);
    double p[3], v[3], length = 0, now = 0, away = 0;
    for (int d = 0; d < 3; ++d) p[d] = at[i][d], v[d] = speed[i][d], length += v[d] * v[d];
    length = std::sqrt(length);
    const double field[3] = {p[1] + p[2], -p[0] + p[0], p[1]};
    for (int d = 0; d < 3; ++d) {
      if ((kinds[i] & 3) == 0) v[d] += field[d] * step;
      if ((kinds[i] & 3) == 1) v[d] += (field[d] - v[d]) * step;
      if ((kinds[i] & 3) == 2) v[d] = std::min(2.0, std::max(-2.0, v[d] - field[d]));
      if ((kinds[i] & 3) == 3) v[d] = length > 1 ? v[d] / length : -v[d];
      want.push_back(v[d]), now += v[d] * v[d], away += (p[d] - v[d]) * (p[d] - v[d]);
    }
    energy.push_back(now / 2 + std::sqrt(away));
  }
  Array<sycl::float3> a(at), s(speed);
  Array<int> k(kinds);
  Array<float> e(n);
  run("particles", n, any(44), a, s, k, e, n, step);
  Vector<float> got;
  for (const auto &v : s.get())
    for (int d = 0; d < 3; ++d) got.push_back(v[d]);
  near("speeds", got, want, 2e-6, 2e-6);
  near("energies", e.get(), energy, 4e-6, 4e-6);
}

static void smallest() {
  const int lists = 149, length = 60;
  Random random{41};
  Vector<float> in(lists * length), want;
  for (float &v : in) v = float(random.real(0, 50));
  for (int which = 0; which < lists; ++which) {
    Vector<float> one;
    for (int i = 0; i < length; ++i) one.push_back(in[i * lists + which]);
    std::sort(one.begin(), one.end());
    want.insert(want.end(), one.begin(), one.begin() + 8);
  }
  Array<float> source(in), out(8 * lists);
  run("smallest", lists, any(28), source, out, lists, length);
  same("smallest", out.get(), want);
}

static void small_sub_groups() {
  const int n = 48 * 7;
  Random random{42};
  Vector<u32> in(n), want;
  for (u32 &v : in) v = random.below(1 << 20);
  for (int i = 0; i < n; ++i) want.push_back(std::accumulate(in.begin() + i / 8 * 8, in.begin() + i / 8 * 8 + 8, 0u) * 256 + 255);
  Array<u32> source(in), out(n);
  run("small_sub_groups", n, 48, source, out, n);
  same("sums", out.get(), want);
}

static const Case cases[] = {
    CASE(heat_tile), CASE(stencil_3d), CASE(product_tile), CASE(transpose_tile), CASE(bodies_tile), CASE(convolve_rows),
    CASE(histogram), CASE(scans), CASE(scan_segments), CASE(sort_bitonic), CASE(sort_radix), CASE(spmv), CASE(gauss_jordan),
    CASE(lu_tile), CASE(fft), CASE(random_numbers), CASE(walks), CASE(floyd_warshall), CASE(bfs), CASE(components),
    CASE(labels_settle), CASE(k_means), CASE(smith_waterman), CASE(find_text), CASE(sha256), CASE(aes128), CASE(crc32),
    CASE(integer_functions), CASE(pixels), CASE(life_words), CASE(queens), CASE(interpret_bytes), CASE(group_functions),
    CASE(atomics), CASE(sum_last_group), CASE(hash_table), CASE(validate), CASE(functions_double), CASE(functions_float),
    CASE(standard_functions), CASE(halves), CASE(small_floats), CASE(conversions), CASE(particles), CASE(smallest),
    CASE(small_sub_groups),
};

int main(int count, char **arguments) { return run_all("idioms", cases, std::size(cases), count, arguments); }
