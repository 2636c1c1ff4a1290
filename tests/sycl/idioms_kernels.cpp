// The kernels of idioms.cpp, which has libsycl-jit compile this text at run time: ours, in the idioms of GPU benchmarks.
#define SYCL_SIMPLE_SWIZZLES
#define SYCL2020_DISABLE_DEPRECATION_WARNINGS
#include <complex>
#include <sycl/sycl.hpp>

namespace ex = sycl::ext::oneapi::experimental;
namespace here = sycl::ext::oneapi::this_work_item;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using sycl::local_accessor;

#define KERNEL(D) extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<D>)) void
#define ITEM(D) auto it = here::get_nd_item<D>()

template <class T, auto Space = sycl::access::address_space::global_space>
using relaxed = sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device, Space>;
template <class T>
using relaxed_local =
    sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::work_group, sycl::access::address_space::local_space>;

// --- local tiles ---------------------------------------------------------------------------------

// One step of heat on a plane: a tile of 16 x 16 with a halo of one, borders held.
KERNEL(2) heat_tile(const float *in, float *out, int rows, int columns, local_accessor<float, 2> tile) {
  ITEM(2);
  const int ly = it.get_local_id(0), lx = it.get_local_id(1), y = it.get_global_id(0), x = it.get_global_id(1);
  auto at = [&](int r, int c) { return in[sycl::clamp(r, 0, rows - 1) * columns + sycl::clamp(c, 0, columns - 1)]; };
  tile[ly + 1][lx + 1] = at(y, x);
  if (ly == 0) tile[0][lx + 1] = at(y - 1, x);
  if (ly == 15) tile[17][lx + 1] = at(y + 1, x);
  if (lx == 0) tile[ly + 1][0] = at(y, x - 1);
  if (lx == 15) tile[ly + 1][17] = at(y, x + 1);
  it.barrier(sycl::access::fence_space::local_space);
  if (y >= rows || x >= columns) return;
  const float middle = tile[ly + 1][lx + 1];
  const float around = tile[ly][lx + 1] + tile[ly + 2][lx + 1] + tile[ly + 1][lx] + tile[ly + 1][lx + 2];
  out[y * columns + x] = middle + 0.125f * (around - 4 * middle);
}

// Seven points in space, guards at each face, one column of the grid for each work-item.
KERNEL(3) stencil_guarded(const double *in, double *out, int nx, int ny, int nz) {
  ITEM(3);
  const int z = it.get_global_id(0), y = it.get_global_id(1), x = it.get_global_id(2);
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x;
  double sum = -6 * in[i];
  sum += x > 0 ? in[i - 1] : 0;
  sum += x + 1 < nx ? in[i + 1] : 0;
  sum += y > 0 ? in[i - nx] : 0;
  sum += y + 1 < ny ? in[i + nx] : 0;
  sum += z > 0 ? in[i - nx * ny] : 0;
  sum += z + 1 < nz ? in[i + nx * ny] : 0;
  out[i] = sum;
}

// The same in planes: three values of a column in registers, the plane between them in local memory.
KERNEL(2) stencil_planes(const double *in, double *out, int nx, int ny, int nz, local_accessor<double, 2> plane) {
  ITEM(2);
  const int y = it.get_global_id(0), x = it.get_global_id(1), ly = it.get_local_id(0) + 1, lx = it.get_local_id(1) + 1;
  const int sy = it.get_local_range(0), sx = it.get_local_range(1);
  const bool inside = x < nx && y < ny;
  auto at = [&](int zz, int yy, int xx) {
    return xx < 0 || yy < 0 || zz < 0 || xx >= nx || yy >= ny || zz >= nz ? 0.0 : in[(zz * ny + yy) * nx + xx];
  };
  double below = 0, middle = at(0, y, x);
  for (int z = 0; z < nz; ++z) {
    const double above = at(z + 1, y, x);
    plane[ly][lx] = middle;
    if (lx == 1) plane[ly][0] = at(z, y, x - 1);
    if (lx == sx) plane[ly][sx + 1] = at(z, y, x + 1);
    if (ly == 1) plane[0][lx] = at(z, y - 1, x);
    if (ly == sy) plane[sy + 1][lx] = at(z, y + 1, x);
    sycl::group_barrier(it.get_group());
    if (inside)
      out[(z * ny + y) * nx + x] =
          below + above + plane[ly][lx - 1] + plane[ly][lx + 1] + plane[ly - 1][lx] + plane[ly + 1][lx] - 6 * middle;
    sycl::group_barrier(it.get_group());
    below = middle;
    middle = above;
  }
}

KERNEL(2) product_tile(const int *a, const int *b, int *c, int m, int n, int k, ex::work_group_memory<int[16][17]> left,
                       ex::work_group_memory<int[16][17]> right) {
  ITEM(2);
  const int ly = it.get_local_id(0), lx = it.get_local_id(1), row = it.get_global_id(0), column = it.get_global_id(1);
  int sum = 0;
  for (int from = 0; from < k; from += 16) {
    left[ly][lx] = row < m && from + lx < k ? a[row * k + from + lx] : 0;
    right[ly][lx] = from + ly < k && column < n ? b[(from + ly) * n + column] : 0;
    sycl::group_barrier(it.get_group());
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += left[ly][i] * right[i][lx];
    sycl::group_barrier(it.get_group());
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// 32 x 32 by 32 x 8 work-items, padded against bank conflicts.
KERNEL(2) transpose_tile(const short *in, short *out, int rows, int columns, local_accessor<short, 2> tile) {
  ITEM(2);
  const int lx = it.get_local_id(1), ly = it.get_local_id(0);
  const int top = it.get_group(0) * 32, left = it.get_group(1) * 32;
  for (int i = 0; i < 32; i += 8)
    if (top + ly + i < rows && left + lx < columns) tile[ly + i][lx] = in[(top + ly + i) * columns + left + lx];
  sycl::group_barrier(it.get_group());
  for (int i = 0; i < 32; i += 8)
    if (left + ly + i < columns && top + lx < rows) out[(left + ly + i) * rows + top + lx] = tile[lx][ly + i];
}

KERNEL(1) bodies_tile(const sycl::float4 *at, sycl::float4 *push, int n, float soft, local_accessor<sycl::float4, 1> tile) {
  ITEM(1);
  const int i = it.get_global_id(0), l = it.get_local_id(0), size = it.get_local_range(0);
  const sycl::float4 self = at[sycl::min(i, n - 1)];
  sycl::float4 sum(0.0f);
  for (int from = 0; from < n; from += size) {
    tile[l] = from + l < n ? at[from + l] : sycl::float4(0.0f);
    it.barrier(sycl::access::fence_space::local_space);
    for (int j = 0; j < size; ++j) {
      const sycl::float4 other = tile[j];
      const sycl::float3 d = other.xyz() - self.xyz();
      const float inverse = sycl::rsqrt(sycl::dot(d, d) + soft);
      const float force = other.w() * inverse * inverse * inverse;
      sum += sycl::float4(d * force, 0.0f);
    }
    it.barrier(sycl::access::fence_space::local_space);
  }
  if (i < n) push[i] = sum;
}

// --- counting, scanning, sorting -----------------------------------------------------------------

KERNEL(1) histogram(const u8 *in, u32 *bins, int n, local_accessor<u32, 1> mine) {
  ITEM(1);
  for (int i = it.get_local_id(0); i < 256; i += it.get_local_range(0)) mine[i] = 0;
  sycl::group_barrier(it.get_group());
  for (int i = it.get_global_id(0); i < n; i += it.get_global_range(0)) relaxed_local<u32>(mine[in[i]]).fetch_add(1);
  sycl::group_barrier(it.get_group());
  for (int i = it.get_local_id(0); i < 256; i += it.get_local_range(0))
    if (mine[i]) relaxed<u32>(bins[i]).fetch_add(mine[i]);
}

// Up-sweep and down-sweep over a block of twice as many numbers as work-items; each block's sum apart.
KERNEL(1) scan_sweeps(const u32 *in, u32 *out, u32 *sums, int n, local_accessor<u32, 1> block) {
  ITEM(1);
  const int l = it.get_local_id(0), size = it.get_local_range(0), from = it.get_group(0) * size * 2;
  for (int i = l; i < 2 * size; i += size) block[i] = from + i < n ? in[from + i] : 0;
  int stride = 1;
  for (int d = size; d > 0; d >>= 1, stride *= 2) {
    sycl::group_barrier(it.get_group());
    if (l < d) block[stride * (2 * l + 2) - 1] += block[stride * (2 * l + 1) - 1];
  }
  if (l == 0) {
    sums[it.get_group(0)] = block[2 * size - 1];
    block[2 * size - 1] = 0;
  }
  for (int d = 1; d <= size; d *= 2) {
    stride >>= 1;
    sycl::group_barrier(it.get_group());
    if (l < d) {
      const u32 low = block[stride * (2 * l + 1) - 1];
      block[stride * (2 * l + 1) - 1] = block[stride * (2 * l + 2) - 1];
      block[stride * (2 * l + 2) - 1] += low;
    }
  }
  sycl::group_barrier(it.get_group());
  for (int i = l; i < 2 * size; i += size)
    if (from + i < n) out[from + i] = block[i];
}
KERNEL(1) scan_add(u32 *out, const u32 *before, int n, int block) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i < n) out[i] += before[i / block];
}

// One pass: each group publishes its sum, then its prefix, and looks back over its predecessors meanwhile.
KERNEL(1) scan_look_back(const u32 *in, u32 *out, u64 *state, u32 *ticket, int n, local_accessor<u32, 1> shared) {
  ITEM(1);
  auto group = it.get_group();
  using published = sycl::atomic_ref<u64, sycl::memory_order::acq_rel, sycl::memory_scope::device>;
  if (group.leader()) shared[0] = relaxed<u32>(*ticket).fetch_add(1);
  sycl::group_barrier(group);
  const int block = shared[0], i = block * it.get_local_range(0) + it.get_local_id(0);
  const u32 value = i < n ? in[i] : 0;
  const u32 prefix = sycl::inclusive_scan_over_group(group, value, sycl::plus<u32>());
  const u32 sum = sycl::group_broadcast(group, prefix, it.get_local_range(0) - 1);
  if (group.leader()) {
    u32 before = 0;
    if (block) {
      published(state[block]).store(u64(1) << 32 | sum);
      for (int look = block - 1; look >= 0; --look) {
        u64 found;
        while (!(found = published(state[look]).load())) {
        }
        before += u32(found);
        if (found >> 32 == 2) break;
      }
    }
    published(state[block]).store(u64(2) << 32 | u32(before + sum));
    shared[1] = before;
  }
  sycl::group_barrier(group);
  if (i < n) out[i] = shared[1] + prefix;
}

// Sums that restart at each flag: shuffles in sub-groups, the sub-groups' last ones through local memory.
KERNEL(1) scan_segments(const int *in, const u8 *heads, int *out, int n, local_accessor<int, 1> tails, local_accessor<int, 1> open) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0), lane = sub.get_local_linear_id(), size = sub.get_local_linear_range();
  int sum = i < n ? in[i] : 0;
  int head = i < n ? heads[i] : 1;
  for (int d = 1; d < size; d *= 2) {
    const int before = sycl::shift_group_right(sub, sum, d), closed = sycl::shift_group_right(sub, head, d);
    if (lane >= d) {
      if (!head) sum += before;
      head |= closed;
    }
  }
  const int which = sub.get_group_linear_id();
  if (lane == size - 1) {
    tails[which] = sum;
    open[which] = !head;
  }
  sycl::group_barrier(it.get_group());
  if (!head)
    for (int s = which - 1; s >= 0; --s) {
      sum += tails[s];
      if (!open[s]) break;
    }
  if (i < n) out[i] = sum;
}

// Keys with their places; missing keys of the last block sort to its end.
KERNEL(1) sort_bitonic(u64 *keys, int n, local_accessor<u64, 1> block) {
  ITEM(1);
  const int l = it.get_local_id(0), size = it.get_local_range(0), from = it.get_group(0) * size * 2;
  for (int i = l; i < 2 * size; i += size) block[i] = from + i < n ? keys[from + i] : ~u64(0);
  for (int length = 2; length <= 2 * size; length *= 2)
    for (int stride = length / 2; stride > 0; stride /= 2) {
      sycl::group_barrier(it.get_group());
      const int low = 2 * l - (l & (stride - 1)), high = low + stride;
      const bool up = (low & length) == 0;
      if ((block[low] > block[high]) == up) {
        const u64 t = block[low];
        block[low] = block[high];
        block[high] = t;
      }
    }
  sycl::group_barrier(it.get_group());
  for (int i = l; i < 2 * size; i += size)
    if (from + i < n) keys[from + i] = block[i];
}

// Four bits of a radix sort: counts of a block; ranks within a block by one scan for each digit.
KERNEL(1) radix_count(const u32 *keys, u32 *counts, int n, int shift, int blocks, local_accessor<u32, 1> digits) {
  ITEM(1);
  const int l = it.get_local_id(0), i = it.get_global_id(0);
  if (l < 16) digits[l] = 0;
  sycl::group_barrier(it.get_group());
  if (i < n) relaxed_local<u32>(digits[keys[i] >> shift & 15])++;
  sycl::group_barrier(it.get_group());
  if (l < 16) counts[l * blocks + it.get_group(0)] = digits[l];
}
KERNEL(1) radix_place(const u32 *keys, const u32 *places, u32 *out, u32 *before, u32 *after, int n, int shift, int blocks) {
  ITEM(1);
  auto group = it.get_group();
  const int i = it.get_global_id(0);
  const u32 key = i < n ? keys[i] : 0, digit = i < n ? key >> shift & 15 : 16;
  u32 rank = 0;
  for (u32 d = 0; d < 16; ++d) {
    const u32 at = sycl::exclusive_scan_over_group(group, u32(digit == d), sycl::plus<>());
    if (digit == d) rank = at;
  }
  if (i < n) {
    const u32 to = places[digit * blocks + it.get_group(0)] + rank;
    out[to] = key;
    after[to] = before[i];
  }
}

// --- sparse and dense algebra --------------------------------------------------------------------

KERNEL(1) spmv_rows(const int *starts, const int *columns, const double *values, const double *x, double *y, int rows) {
  ITEM(1);
  const int row = it.get_global_id(0);
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
// A sub-group for each row.
KERNEL(1) spmv_sub_groups(const int *starts, const int *columns, const double *values, const double *x, double *y, int rows) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int row = it.get_group(0) * sub.get_group_linear_range() + sub.get_group_linear_id();
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row] + int(sub.get_local_linear_id()); i < starts[row + 1]; i += sub.get_local_linear_range())
    sum += values[i] * x[columns[i]];
  sum = sycl::reduce_over_group(sub, sum, sycl::plus<double>());
  if (sub.leader()) y[row] = sum;
}
// Columns of the same length, with -1 for missing entries.
KERNEL(2) spmv_ell(const int *columns, const double *values, const double *x, double *y, int rows, int width) {
  ITEM(2);
  const int row = it.get_global_linear_id();
  if (row >= rows) return;
  double sum = 0;
  for (int i = 0; i < width; ++i) {
    const int column = columns[i * rows + row];
    if (column < 0) continue;
    sum += values[i * rows + row] * x[column];
  }
  y[row] = sum;
}

// One system for each group: the pivot is looked for by a reduction, its row is exchanged, all others are cleared.
KERNEL(1) gauss_jordan(const double *in, double *out, int *error, int size, local_accessor<double, 2> a) {
  ITEM(1);
  auto group = it.get_group();
  const int l = it.get_local_id(0), width = size + 1;
  const double *mine = in + it.get_group(0) * size * width;
  for (int i = l; i < size * width; i += it.get_local_range(0)) a[i / width][i % width] = mine[i];
  sycl::group_barrier(group);
  for (int k = 0; k < size; ++k) {
    const double best = sycl::reduce_over_group(group, l >= k && l < size ? sycl::fabs(a[l][k]) : -1.0, sycl::maximum<double>());
    const int pivot = sycl::reduce_over_group(group, l >= k && l < size && sycl::fabs(a[l][k]) == best ? l : size, sycl::minimum<int>());
    if (best < 1e-12) {
      if (l == 0) error[it.get_group(0)] = k + 1;
      return;
    }
    if (l < width && pivot != k) {
      const double t = a[k][l];
      a[k][l] = a[pivot][l];
      a[pivot][l] = t;
    }
    sycl::group_barrier(group);
    const double scale = 1 / a[k][k];
    sycl::group_barrier(group);
    if (l < width) a[k][l] *= scale;
    const double factor = l < size ? a[l][k] : 0;
    sycl::group_barrier(group);
    if (l < size && l != k)
      for (int j = k; j < width; ++j) a[l][j] -= factor * a[k][j];
    sycl::group_barrier(group);
  }
  if (l < size) out[it.get_group(0) * size + l] = a[l][size];
}

// Doolittle's LU of a tile in place, without pivots.
KERNEL(1) lu_tile(float *tiles, local_accessor<float, 2> a) {
  ITEM(1);
  const int l = it.get_local_id(0);
  float *mine = tiles + it.get_group(0) * 256;
  for (int i = 0; i < 16; ++i) a[i][l] = mine[i * 16 + l];
  sycl::group_barrier(it.get_group());
  for (int k = 0; k < 15; ++k) {
    if (l > k) {
      for (int j = 0; j < k; ++j) a[l][k] -= a[l][j] * a[j][k];
      a[l][k] /= a[k][k];
    }
    sycl::group_barrier(it.get_group());
    if (l > k)
      for (int j = 0; j <= k; ++j) a[k + 1][l] -= a[k + 1][j] * a[j][l];
    sycl::group_barrier(it.get_group());
  }
  for (int i = 0; i < 16; ++i) mine[i * 16 + l] = a[i][l];
}

// Radix 2 in local memory, which sorts itself: 256 points by 128 work-items.
KERNEL(1) fft(const sycl::float2 *in, sycl::float2 *out, int direction, local_accessor<sycl::float2, 1> x) {
  ITEM(1);
  const u32 l = it.get_local_id(0), from = it.get_group(0) * 256;
  x[l] = in[from + l];
  x[l + 128] = in[from + l + 128];
  for (u32 half = 1; half < 256; half *= 2) {
    it.barrier(sycl::access::fence_space::local_space);
    const u32 k = l & (half - 1), to = 2 * l - k;
    float c;
    const float s = sycl::sincos(float(direction) * 3.14159265f * float(k) / float(half), &c);
    const sycl::float2 a = x[l], b = x[l + 128];
    const sycl::float2 t(b.x() * c - b.y() * s, b.x() * s + b.y() * c);
    it.barrier(sycl::access::fence_space::local_space);
    x[to] = a + t;
    x[to + half] = a - t;
  }
  it.barrier(sycl::access::fence_space::local_space);
  for (u32 i = l; i < 256; i += 128) out[from + i] = direction > 0 ? x[i] / 256.0f : x[i];
}

// A row of separable convolution, coefficients by value in a struct.
struct Coefficients {
  float at[9];
  int radius;
};
KERNEL(2) convolve_rows(const float *in, float *out, int rows, int columns, Coefficients by) {
  ITEM(2);
  const int y = it.get_global_id(0), x = it.get_global_id(1);
  if (y >= rows || x >= columns) return;
  float sum = 0;
  for (int d = -by.radius; d <= by.radius; ++d)
    if (x + d >= 0 && x + d < columns) sum = sycl::fma(in[y * columns + x + d], by.at[d + by.radius], sum);
  out[y * columns + x] = sum;
}

// --- random numbers ------------------------------------------------------------------------------

KERNEL(1) random_xorwow(u32 *out, int n, int draws) {
  ITEM(1);
  const u32 i = it.get_global_id(0);
  if (i >= u32(n)) return;
  u32 x = 123456789u ^ i * 2654435761u, y = 362436069u, z = 521288629u, w = 88675123u, v = 5783321u + i, d = 6615241u;
  u32 mixed = 0;
  for (int j = 0; j < draws; ++j) {
    const u32 t = x ^ x >> 2;
    x = y, y = z, z = w, w = v;
    v = v ^ v << 4 ^ t ^ t << 1;
    d += 362437;
    mixed = sycl::rotate(mixed, 5u) ^ (d + v);
  }
  out[i] = mixed;
}
KERNEL(1) random_philox(sycl::uint4 *out, int n, sycl::uint2 seed) {
  ITEM(1);
  const u32 i = it.get_global_id(0);
  if (i >= u32(n)) return;
  sycl::uint4 counter(i, 0, ~i, 7);
  sycl::uint2 key = seed;
  for (int round = 0; round < 10; ++round) {
    const u32 high0 = sycl::mul_hi(0xD2511F53u, counter.x()), low0 = 0xD2511F53u * counter.x();
    const u32 high1 = sycl::mul_hi(0xCD9E8D57u, counter.z()), low1 = 0xCD9E8D57u * counter.z();
    counter = sycl::uint4(high1 ^ counter.y() ^ key.x(), low1, high0 ^ counter.w() ^ key.y(), low0);
    key += sycl::uint2(0x9E3779B9u, 0xBB67AE85u);
  }
  out[i] = counter;
}
// Walks on a grid until they leave a box or have gone far enough; work-items end at different times.
KERNEL(1) walks(int *steps, u64 *left, int n, int box, int most) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u64 state = u64(i) * 0x9E3779B97F4A7C15ull + 1;
  int x = 0, y = 0, step = 0;
  for (; step < most; ++step) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    switch (state >> 61) {
    case 0: ++x; break;
    case 1: --x; break;
    case 2: ++y; break;
    case 3: --y; break;
    case 4: ++x;
    case 5: ++y; break;
    case 6: continue;
    default: --x, --y;
    }
    if (x * x + y * y > box * box) {
      relaxed<u64>(*left).fetch_add(1);
      break;
    }
  }
  steps[i] = x >= 0 ? step : -step;
}

// --- graphs --------------------------------------------------------------------------------------

KERNEL(2) floyd_warshall(int *distance, int n, int k) {
  ITEM(2);
  const int i = it.get_global_id(0), j = it.get_global_id(1);
  if (i >= n || j >= n) return;
  const int through = distance[i * n + k] + distance[k * n + j];
  if (through < distance[i * n + j]) distance[i * n + j] = through;
}
// A level of a breadth-first search: the work-item that sets a vertex's level adds it to the next queue.
KERNEL(1) bfs(const int *starts, const int *neighbours, int *levels, const int *queue, int length, int *next, int *count, int level) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= length) return;
  const int from = queue[i];
  for (int e = starts[from]; e < starts[from + 1]; ++e) {
    int unseen = -1;
    if (relaxed<int>(levels[neighbours[e]]).compare_exchange_strong(unseen, level)) next[relaxed<int>(*count)++] = neighbours[e];
  }
}
// Components by union of roots, smaller numbers win.
KERNEL(1) components_join(const int *from, const int *to, int *parents, int edges) {
  ITEM(1);
  const int e = it.get_global_id(0);
  if (e >= edges) return;
  auto root = [&](int v) {
    int parent = relaxed<int>(parents[v]).load();
    while (parent != v) {
      v = parent;
      parent = relaxed<int>(parents[v]).load();
    }
    return v;
  };
  int a = root(from[e]), b = root(to[e]);
  while (a != b) {
    if (a < b) { const int t = a; a = b; b = t; }
    int expected = a;
    if (relaxed<int>(parents[a]).compare_exchange_strong(expected, b)) break;
    a = root(a), b = root(b);
  }
}
KERNEL(1) components_flatten(int *parents, int n) {
  ITEM(1);
  const int v = it.get_global_id(0);
  if (v >= n) return;
  int root = relaxed<int>(parents[v]).load(), parent;
  while ((parent = relaxed<int>(parents[root]).load()) != root) root = parent;
  relaxed<int>(parents[v]).store(root);
}
// Labels spread in a group until none changes: a barrier in a loop whose end the group decides together.
KERNEL(1) labels_settle(int *labels, int *rounds, int n, local_accessor<int, 1> mine) {
  ITEM(1);
  auto group = it.get_group();
  const int l = it.get_local_id(0), i = it.get_global_id(0), size = it.get_local_range(0);
  mine[l] = i < n ? labels[i] : 0;
  int round = 0;
  bool changed = true;
  while (sycl::any_of_group(group, changed)) {
    const int left = l > 0 ? mine[l - 1] : 0, right = l + 1 < size ? mine[l + 1] : 0, now = mine[l];
    sycl::group_barrier(group);
    const int most = now ? sycl::max(now, sycl::max(left, right)) : 0;
    changed = most != now;
    mine[l] = most;
    sycl::group_barrier(group);
    ++round;
  }
  if (i < n) labels[i] = mine[l];
  if (l == 0) rounds[it.get_group(0)] = round;
}

// --- clustering, alignment, text -----------------------------------------------------------------

KERNEL(1) k_means(const int *points, const int *centres, u8 *nearest, u64 *sums, u32 *counts, int n, int k, local_accessor<u64, 1> sum,
                  local_accessor<u32, 1> count) {
  ITEM(1);
  const int l = it.get_local_id(0), i = it.get_global_id(0), size = it.get_local_range(0);
  for (int j = l; j < 3 * k; j += size) sum[j] = 0;
  for (int j = l; j < k; j += size) count[j] = 0;
  sycl::group_barrier(it.get_group());
  if (i < n) {
    long best = 1L << 62;
    int which = 0;
    for (int c = 0; c < k; ++c) {
      long distance = 0;
      for (int d = 0; d < 3; ++d) {
        const long along = long(points[d * n + i]) - centres[d * k + c];
        distance += along * along;
      }
      if (distance < best) best = distance, which = c;
    }
    nearest[i] = which;
    for (int d = 0; d < 3; ++d) relaxed_local<u64>(sum[d * k + which]) += points[d * n + i];
    relaxed_local<u32>(count[which])++;
  }
  sycl::group_barrier(it.get_group());
  for (int j = l; j < 3 * k; j += size) relaxed<u64>(sums[j]) += sum[j];
  for (int j = l; j < k; j += size) relaxed<u32>(counts[j]) += count[j];
}

// A pair of sequences for each group, one diagonal after the other, three of them kept.
KERNEL(1) smith_waterman(const char *a, const char *b, const int *lengths, int longest, int *scores, local_accessor<int, 1> diagonals) {
  ITEM(1);
  auto group = it.get_group();
  const int l = it.get_local_id(0), pair = it.get_group(0), m = lengths[2 * pair], n = lengths[2 * pair + 1];
  a += pair * longest, b += pair * longest;
  const int width = longest + 1;
  for (int i = l; i < 3 * width; i += it.get_local_range(0)) diagonals[i] = 0;
  sycl::group_barrier(group);
  int best = 0;
  for (int d = 2; d <= m + n; ++d) {
    const int now = d % 3 * width, last = (d + 2) % 3 * width, before = (d + 1) % 3 * width;
    for (int i = l; i <= longest; i += it.get_local_range(0)) {
      const int j = d - i;
      int score = 0;
      if (i >= 1 && i <= m && j >= 1 && j <= n) {
        score = diagonals[before + i - 1] + (a[i - 1] == b[j - 1] ? 5 : -3);
        score = sycl::max(score, sycl::max(diagonals[last + i - 1], diagonals[last + i]) - 4);
        score = sycl::max(score, 0);
      }
      diagonals[now + i] = score;
      best = sycl::max(best, score);
    }
    sycl::group_barrier(group);
  }
  best = sycl::reduce_over_group(group, best, sycl::maximum<>());
  if (l == 0) scores[pair] = best;
}

// Places where a pattern begins, appended to a list; counting continues when the list is full.
KERNEL(1) find_text(const char *text, int n, const char *pattern, int length, int *places, int *found, int room) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i + length > n) return;
  for (int j = 0; j < length; ++j)
    if (pattern[j] != '?' && text[i + j] != pattern[j]) return;
  const int at = relaxed<int>(*found).fetch_add(1);
  if (at < room) places[at] = i;
}

// --- integers, bytes, bits -----------------------------------------------------------------------

static constexpr u32 sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
// SHA-256 of messages of up to 119 bytes, one for each work-item, words kept in a ring of sixteen.
KERNEL(1) sha256(const u8 *messages, const int *lengths, u32 *digests, int n) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= n) return;
  const u8 *message = messages + which * 120;
  const int length = lengths[which], blocks = (length + 9 + 63) / 64;
  u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  auto byte = [&](int at) -> u32 {
    if (at < length) return message[at];
    if (at == length) return 0x80;
    return at >= blocks * 64 - 8 ? u32(u64(length) * 8 >> (8 * (blocks * 64 - 1 - at))) & 255 : 0;
  };
  for (int block = 0; block < blocks; ++block) {
    u32 w[16], s[8];
    for (int i = 0; i < 16; ++i) {
      const int at = block * 64 + i * 4;
      w[i] = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    }
    for (int i = 0; i < 8; ++i) s[i] = h[i];
    for (int i = 0; i < 64; ++i) {
      if (i >= 16) {
        const u32 a = w[(i + 1) & 15], b = w[(i + 14) & 15];
        w[i & 15] += (sycl::rotate(a, 25u) ^ sycl::rotate(a, 14u) ^ a >> 3) + w[(i + 9) & 15] +
                     (sycl::rotate(b, 15u) ^ sycl::rotate(b, 13u) ^ b >> 10);
      }
      const u32 t1 = s[7] + (sycl::rotate(s[4], 26u) ^ sycl::rotate(s[4], 21u) ^ sycl::rotate(s[4], 7u)) +
                     sycl::bitselect(s[6], s[5], s[4]) + sha_constants[i] + w[i & 15];
      const u32 t2 = (sycl::rotate(s[0], 30u) ^ sycl::rotate(s[0], 19u) ^ sycl::rotate(s[0], 10u)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      for (int j = 7; j > 0; --j) s[j] = s[j - 1];
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) h[i] += s[i];
  }
  for (int i = 0; i < 8; ++i) digests[which * 8 + i] = h[i];
}

// AES-128 of blocks: the byte table copied to local memory first, round keys from the host, four bytes as a vector.
KERNEL(1) aes128(const u8 *table, const u8 *keys, const sycl::uchar4 *in, sycl::uchar4 *out, int blocks, ex::work_group_memory<u8[256]> box) {
  ITEM(1);
  for (int i = it.get_local_id(0); i < 256; i += it.get_local_range(0)) box[i] = table[i];
  sycl::group_barrier(it.get_group());
  const int i = it.get_global_id(0);
  if (i >= blocks) return;
  u8 state[16], next[16];
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 4; ++r) state[4 * c + r] = in[4 * i + c][r] ^ keys[4 * c + r];
  auto twice = [](u8 b) { return u8(b << 1 ^ (b >> 7) * 0x1b); };
  for (int round = 1; round <= 10; ++round) {
    for (int c = 0; c < 4; ++c)
      for (int r = 0; r < 4; ++r) next[4 * c + r] = box[state[4 * ((c + r) & 3) + r]];
    for (int c = 0; c < 4; ++c) {
      u8 *b = next + 4 * c;
      if (round < 10) {
        const u8 all = b[0] ^ b[1] ^ b[2] ^ b[3], first = b[0];
        for (int r = 0; r < 3; ++r) b[r] ^= all ^ twice(b[r] ^ b[r + 1]);
        b[3] ^= all ^ twice(b[3] ^ first);
      }
      for (int r = 0; r < 4; ++r) state[4 * c + r] = b[r] ^ keys[16 * round + 4 * c + r];
    }
  }
  for (int c = 0; c < 4; ++c) out[4 * i + c] = sycl::uchar4(state[4 * c], state[4 * c + 1], state[4 * c + 2], state[4 * c + 3]);
}

KERNEL(1) crc32(const u8 *in, const int *starts, u32 *out, int n, local_accessor<u32, 1> table) {
  ITEM(1);
  for (u32 i = it.get_local_id(0); i < 256; i += it.get_local_range(0)) {
    u32 c = i;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    table[i] = c;
  }
  sycl::group_barrier(it.get_group());
  const int i = it.get_global_id(0);
  if (i >= n) return;
  u32 c = ~0u;
  for (int at = starts[i]; at < starts[i + 1]; ++at) c = table[(c ^ in[at]) & 255] ^ c >> 8;
  out[i] = ~c;
}

KERNEL(1) integer_functions(const int *a, const int *b, u64 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const int x = a[i], y = b[i];
  const u32 u = x, v = y;
  u64 *to = out + i;
  auto put = [&](u64 value) { *to = value, to += n; };
  put(sycl::popcount(u));
  put(sycl::clz(u));
  put(sycl::ctz(u));
  put(sycl::rotate(u, v & 31));
  put(u32(sycl::mul_hi(x, y)));
  put(sycl::mul_hi(u, v));
  put(u32(sycl::hadd(x, y)));
  put(u32(sycl::rhadd(x, y)));
  put(u32(sycl::abs_diff(x, y)));
  put(u32(sycl::add_sat(x, y)));
  put(u32(sycl::sub_sat(x, y)));
  put(sycl::add_sat(u8(u), u8(v)));
  put(u8(sycl::sub_sat(std::int8_t(x), std::int8_t(y))));
  put(u32(sycl::mad24(x % 4096, y % 2048, x)));
  put(sycl::mad_hi(u64(u) << 20 | v, u64(v) << 24 | u, u64(x)));
  put(sycl::upsample(u, v));
  put(sycl::bitselect(u, v, u32(0x00ff0ff0)));
  put(y ? u32(x / (y == -1 ? 3 : y)) : 0);
  put(y ? u32(x % (y == -1 ? 3 : y)) : 0);
  put(v ? (u64(u) << 31 | v) / v : 0);
  put(u64(std::int64_t(u64(u) << 33 | v) >> (v & 63)));
  put(u32(std::int16_t(x) * std::int16_t(y)) >> 7);
  put(u32(sycl::clamp(x, -1000, y & 0xffff)));
  put(sycl::bit_cast<u32>(sycl::short2(sycl::bit_cast<sycl::short2>(u) + sycl::bit_cast<sycl::short2>(v))));
}

// Pixels as vectors of bytes: grey by integers, mixed with saturation, swizzled.
KERNEL(1) pixels(const sycl::uchar4 *a, const sycl::uchar4 *b, sycl::uchar4 *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const sycl::uchar4 p = a[i], q = b[i];
  const sycl::ushort4 wide = p.convert<unsigned short>() * sycl::ushort4(77) + q.convert<unsigned short>() * sycl::ushort4(150);
  const sycl::uchar4 mixed = (wide >> sycl::ushort4(8)).convert<u8>();
  const sycl::uchar4 sum = sycl::add_sat(p, q);
  const sycl::vec<std::int8_t, 4> darker = p < q;
  const sycl::uchar4 chosen = sycl::select(sum, mixed, darker);
  out[i] = sycl::uchar4(chosen.zyx(), sycl::max(p.w(), q.w()));
}

// Life, 64 cells in a word.
KERNEL(2) life_words(const u64 *in, u64 *out, int rows, int words) {
  ITEM(2);
  const int y = it.get_global_id(0), x = it.get_global_id(1);
  if (y >= rows || x >= words) return;
  auto row = [&](int r, u64 *three) {
    r = (r + rows) % rows;
    const u64 left = in[r * words + (x + words - 1) % words], middle = in[r * words + x], right = in[r * words + (x + 1) % words];
    three[0] = middle << 1 | left >> 63, three[1] = middle, three[2] = middle >> 1 | right << 63;
  };
  u64 around[9];
  for (int d = 0; d < 3; ++d) row(y + d - 1, around + 3 * d);
  u64 ones = 0, twos = 0, fours = 0, eights = 0;
  for (int d = 0; d < 9; ++d) {
    if (d == 4) continue;
    u64 carry = around[d], t;
    t = ones & carry, ones ^= carry, carry = t;
    t = twos & carry, twos ^= carry, carry = t;
    t = fours & carry, fours ^= carry, carry = t;
    eights |= carry;
  }
  out[y * words + x] = ~fours & ~eights & twos & (ones | around[4]);
}

// Queens by a stack in private memory.
KERNEL(1) queens(u32 *solutions, int size, int starts) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= starts) return;
  u32 columns[16], up[16], down[16], open[16];
  const u32 all = (1u << size) - 1, first = 1u << which % size, second = 1u << which / size;
  u32 count = 0;
  if (!(second & (first | first << 1 | first >> 1))) {
    int depth = 2;
    columns[2] = first | second;
    up[2] = (first << 1 | second) << 1;
    down[2] = (first >> 1 | second) >> 1;
    open[2] = all & ~(columns[2] | up[2] | down[2]);
    while (depth >= 2) {
      if (!open[depth]) {
        --depth;
        continue;
      }
      const u32 bit = open[depth] & -open[depth];
      open[depth] ^= bit;
      if (depth + 1 == size) {
        ++count;
        continue;
      }
      columns[depth + 1] = columns[depth] | bit;
      up[depth + 1] = (up[depth] | bit) << 1;
      down[depth + 1] = (down[depth] | bit) >> 1;
      ++depth;
      open[depth] = all & ~(columns[depth] | up[depth] | down[depth]);
    }
  }
  solutions[which] = count;
}

// A machine with a stack, whose programs differ from work-item to work-item.
KERNEL(1) interpret_bytes(const u8 *programs, const int *starts, int *results, int n) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= n) return;
  int stack[8] = {}, top = 0, steps = 0;
  for (const u8 *at = programs + starts[which]; steps < 500; ++steps) {
    const u8 code = *at++;
    if (code == 0) break;
    int &a = stack[top & 7], &b = stack[(top - 1) & 7];
    switch (code & 7) {
    case 1: stack[++top & 7] = code >> 3; break;
    case 2: b += a, --top; break;
    case 3: b *= a, --top; break;
    case 4: b -= a, --top; break;
    case 5: { const int t = a; a = b, b = t; break; }
    case 6: a = a & 1 ? 3 * a + 1 : a / 2; break;
    case 7:
      if (a > 0) --a, at -= code >> 3;
      break;
    default: stack[++top & 7] = a ^ code;
    }
  }
  results[which] = stack[top & 7] + (steps << 16);
}

// --- groups and atomics --------------------------------------------------------------------------

KERNEL(1) group_functions(const int *in, int *out, int n) {
  ITEM(1);
  auto group = it.get_group();
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0), count = it.get_global_range(0), lane = sub.get_local_linear_id();
  const int x = in[i % n];
  int *to = out + i;
  auto put = [&](int value) { *to = value, to += count; };
  put(sycl::group_broadcast(group, x, 5));
  put(sycl::group_broadcast(sub, x, 3));
  put(sycl::reduce_over_group(group, x, sycl::plus<>()));
  put(sycl::reduce_over_group(group, x, 7, sycl::minimum<>()));
  put(sycl::reduce_over_group(sub, x, sycl::maximum<>()));
  put(sycl::reduce_over_group(group, x, sycl::bit_xor<>()));
  put(sycl::inclusive_scan_over_group(group, x, sycl::plus<>()));
  put(sycl::exclusive_scan_over_group(group, x, -3, sycl::maximum<>()));
  put(sycl::inclusive_scan_over_group(sub, x, sycl::bit_or<>()));
  put(sycl::any_of_group(group, x == in[0]));
  put(sycl::all_of_group(sub, x != in[1]));
  put(sycl::none_of_group(group, x > 900));
  const int before = sycl::shift_group_right(sub, x, 1), after = sycl::shift_group_left(sub, x, 2);
  put(lane > 0 ? before : -1);
  put(lane + 2 < int(sub.get_local_linear_range()) ? after : -2);
  put(sycl::permute_group_by_xor(sub, x, 5));
  put(sycl::select_from_group(sub, x, (lane * 7 + 3) % sub.get_local_linear_range()));
  put(sycl::joint_reduce(group, in, in + n, sycl::plus<>()));
  put(sycl::joint_any_of(group, in, in + n, [](int v) { return v == 77; }));
  put(sycl::ext::oneapi::group_ballot(sub, x & 1).count());
  put(sub.get_group_linear_id() * 1000 + sub.get_local_linear_range());
}
KERNEL(1) joint_scan(const int *in, int *out, int n) {
  ITEM(1);
  sycl::joint_exclusive_scan(it.get_group(), in, in + n, out + it.get_group(0) * n, int(it.get_group(0)), sycl::plus<>());
}

KERNEL(1) atomics(const int *in, int n, int *ints, u64 *longs, float *floats, double *doubles) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const int x = in[i];
  relaxed<int>(ints[0]).fetch_min(x);
  relaxed<int>(ints[1]).fetch_max(x);
  relaxed<int>(ints[2]).fetch_and(x | 0x7000);
  relaxed<int>(ints[3]).fetch_or(1 << (x & 31));
  relaxed<int>(ints[4]).fetch_xor(x);
  relaxed<int>(ints[5]).fetch_sub(x);
  relaxed<u64>(longs[0]).fetch_add(u64(x) << 20);
  relaxed<u64>(longs[1]).fetch_max(u64(u32(x)) * 0x100000001ull);
  relaxed<float>(floats[0]).fetch_add(float(x & 15));
  relaxed<float>(floats[1]).fetch_min(float(x) / 8);
  relaxed<float>(floats[2]).fetch_max(float(x) / 8);
  relaxed<double>(doubles[0]).fetch_add(double(x));
  // A sum of squares by compare and exchange, as where there is no such atomic.
  relaxed<double> sum(doubles[1]);
  double seen = sum.load();
  while (!sum.compare_exchange_weak(seen, seen + double(x) * double(x))) {
  }
}
// Each work-item stores its number and takes the previous one: no number is lost.
KERNEL(1) exchanges(int *slot, int *taken, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i < n) taken[i] = relaxed<int>(*slot).exchange(i);
}
// The last group adds up the results of all groups.
KERNEL(1) sum_last_group(const float *in, float *partial, u32 *arrived, float *out, int n, local_accessor<int, 1> last) {
  ITEM(1);
  auto group = it.get_group();
  float sum = 0;
  for (int i = it.get_global_id(0); i < n; i += it.get_global_range(0)) sum += in[i];
  sum = sycl::reduce_over_group(group, sum, sycl::plus<float>());
  if (group.leader()) {
    partial[it.get_group(0)] = sum;
    sycl::atomic_fence(sycl::memory_order::seq_cst, sycl::memory_scope::device);
    last[0] = relaxed<u32>(*arrived).fetch_add(1) == it.get_group_range(0) - 1;
  }
  sycl::group_barrier(group);
  if (!last[0]) return;
  sycl::atomic_fence(sycl::memory_order::seq_cst, sycl::memory_scope::device);
  const int groups = it.get_group_range(0);
  float all = int(it.get_local_id(0)) < groups ? partial[it.get_local_id(0)] : 0;
  all = sycl::reduce_over_group(group, all, sycl::plus<float>());
  if (group.leader()) *out = all;
}
// Open addressing: keys by compare and exchange, how often each came by addition.
KERNEL(1) hash_table(const u64 *keys, int n, u64 *table, u32 *counts, u32 mask, int *error) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const u64 key = keys[i];
  if (key == 0) {
    int none = 0;
    relaxed<int>(*error).compare_exchange_strong(none, 1);
    return;
  }
  u32 at = u32((key ^ key >> 29) * 0xBF58476D1CE4E5B9ull >> 32) & mask;
  for (u32 tries = 0; tries <= mask; ++tries, at = (at + 1) & mask) {
    u64 found = 0;
    if (relaxed<u64>(table[at]).compare_exchange_strong(found, key) || found == key) {
      relaxed<u32>(counts[at])++;
      return;
    }
  }
  relaxed<int>(*error).store(2);
}
// Records are looked at, the first bad one and its code are kept, and good ones counted by group.
struct Record {
  int id;
  short kind;
  u8 flags;
  float weight;
};
KERNEL(1) validate(const Record *records, int n, u64 *first, u32 *good) {
  ITEM(1);
  const int i = it.get_global_id(0);
  auto judge = [](const Record &r) {
    if (r.id < 0) return 1;
    if (r.kind > 9 || r.kind < -9) return 2;
    if ((r.flags & 0x81) == 0x81) return 3;
    if (sycl::isnan(r.weight)) return 4;
    if (!sycl::isfinite(r.weight)) return 5;
    return 0;
  };
  const int code = i < n ? judge(records[i]) : 0;
  if (code) relaxed<u64>(*first).fetch_min(u64(i) << 8 | code);
  const u32 sum = sycl::reduce_over_group(it.get_group(), u32(i < n && !code), sycl::plus<>());
  if (it.get_group().leader()) good[it.get_group(0)] = sum;
}

// --- numbers -------------------------------------------------------------------------------------

template <class T> static void functions(const T *a, const T *b, T *out, int n, int i) {
  const T x = a[i], y = b[i];
  T *to = out + i;
  auto put = [&](T value) { *to = value, to += n; };
  put(sycl::erf(x));
  put(sycl::erfc(x));
  put(sycl::lgamma(y));
  put(sycl::tgamma(y));
  put(sycl::pow(y, x));
  put(sycl::exp(x));
  put(sycl::log(y));
  put(sycl::log1p(y));
  put(sycl::expm1(x));
  put(sycl::cbrt(x));
  put(sycl::hypot(x, y));
  put(sycl::atan2(x, y));
  put(sycl::sin(x));
  put(sycl::cos(x));
  put(sycl::tan(x));
  put(sycl::asin(x / 8));
  put(sycl::acosh(y + 1));
  put(sycl::tanh(x));
  put(sycl::fmod(x, y));
  put(sycl::remainder(x, y));
  put(sycl::exp2(x));
  put(sycl::log10(y));
  put(sycl::sqrt(y));
  put(sycl::floor(x));
  put(sycl::rint(x));
  put(sycl::round(x));
  put(sycl::trunc(x));
  int exponent;
  const T fraction = sycl::frexp(x, &exponent);
  put(fraction + T(exponent));
  put(sycl::ldexp(x, 3));
  put(sycl::copysign(y, x));
  put(sycl::nextafter(x, y));
  put(sycl::fma(x, y, x));
  put(sycl::fdim(x, y));
  put(sycl::pown(x, 3));
  put(sycl::rootn(y, 3));
  put(T(sycl::ilogb(y)));
  T whole;
  put(sycl::modf(x, &whole) - whole);
}
KERNEL(1) functions_double(const double *a, const double *b, double *out, int n) {
  ITEM(1);
  if (const int i = it.get_global_id(0); i < n) functions(a, b, out, n, i);
}
KERNEL(1) functions_float(const float *a, const float *b, float *out, int n) {
  ITEM(1);
  if (const int i = it.get_global_id(0); i < n) functions(a, b, out, n, i);
}
// Functions of the standard library, and its complex numbers, which the compiler links in.
KERNEL(1) standard_functions(const double *a, const double *b, double *out, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  double *to = out + i;
  auto put = [&](std::complex<double> z) { *to = z.real(), to[n] = z.imag(), to += 2 * n; };
  const std::complex<double> z(a[i], b[i]), w(b[i], -a[i] / 3);
  put(z * w);
  put(z / w);
  put(std::exp(z * 0.25));
  put(std::sqrt(z));
  put(std::log(w));
  put(std::polar(b[i], a[i]));
  put({std::erf(a[i]), std::lgamma(b[i])});
  put({std::fmax(a[i], b[i]), std::abs(z)});
}

KERNEL(1) halves(const sycl::half *a, const sycl::half *b, sycl::half *out, float *wide, int n) {
#pragma clang fp contract(off)
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const sycl::half x = a[i], y = b[i];
  out[i] = x + y;
  out[i + n] = x * y;
  out[i + 2 * n] = x - sycl::half(0.5f) * y;
  out[i + 3 * n] = x / y;
  out[i + 4 * n] = sycl::sqrt(sycl::fabs(x));
  out[i + 5 * n] = sycl::fma(x, y, x);
  out[i + 6 * n] = sycl::half(float(i) * 17.03f);
  out[i + 7 * n] = sycl::fmin(x, y);
  wide[i] = float(x) + (x < y ? 1.0f : 0.0f);
}
KERNEL(1) halves_dot(const sycl::half2 *a, const sycl::half2 *b, float *out, int n) {
  ITEM(1);
  float sum = 0;
  for (int i = it.get_local_id(0); i < n; i += it.get_local_range(0)) {
    const sycl::float2 product = a[i].convert<float>() * b[i].convert<float>();
    sum += product.x() + product.y();
  }
  sum = sycl::reduce_over_group(it.get_group(), sum, sycl::plus<>());
  if (it.get_group().leader()) *out = sum;
}
KERNEL(1) small_floats(const float *in, unsigned short *out, float *back, int n) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const sycl::ext::oneapi::bfloat16 b = in[i];
  out[i] = sycl::bit_cast<unsigned short>(b);
  back[i] = float(b * sycl::ext::oneapi::bfloat16(3.0f));
}
KERNEL(1) conversions(const double *in, int n, int *ints, u64 *longs, u8 *bytes, sycl::int4 *rounded) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const double x = in[i];
  ints[i] = int(x);
  longs[i] = u64(std::int64_t(x * 1e6));
  bytes[i] = u8(sycl::clamp(x, 0.0, 255.0));
  const sycl::vec<double, 1> v(x);
  rounded[i] = sycl::int4(v.convert<int, sycl::rounding_mode::rte>()[0], v.convert<int, sycl::rounding_mode::rtz>()[0],
                          v.convert<int, sycl::rounding_mode::rtp>()[0], v.convert<int, sycl::rounding_mode::rtn>()[0]);
}

// Structures of arrays, vectors of three, geometric functions.
KERNEL(1) particles(const sycl::float3 *at, sycl::float3 *speed, const int *kinds, float *energy, int n, float step) {
  ITEM(1);
  const int i = it.get_global_id(0);
  if (i >= n) return;
  const sycl::float3 p = at[i];
  sycl::float3 v = speed[i];
  const sycl::float3 field = sycl::cross(p, sycl::float3(0, 0, 1)) + sycl::float3(p.z(), p.x(), p.y());
  switch (kinds[i] & 3) {
  case 0: v += field * step; break;
  case 1: v = sycl::mix(v, field, step); break;
  case 2: v = sycl::clamp(v - field, -2.0f, 2.0f); break;
  default: v = sycl::length(v) > 1 ? sycl::normalize(v) : -v;
  }
  speed[i] = v;
  energy[i] = sycl::dot(v, v) / 2 + sycl::distance(p, v);
}

// The eight smallest of a list, kept sorted in private memory.
KERNEL(1) smallest(const float *in, float *out, int lists, int length) {
  ITEM(1);
  const int which = it.get_global_id(0);
  if (which >= lists) return;
  float best[8];
  for (float &b : best) b = INFINITY;
  for (int i = 0; i < length; ++i) {
    const float x = in[i * lists + which];
    if (x >= best[7]) continue;
    int at = 7;
    for (; at > 0 && best[at - 1] > x; --at) best[at] = best[at - 1];
    best[at] = x;
  }
  for (int i = 0; i < 8; ++i) out[which * 8 + i] = best[i];
}

// A work-group of a size that the compiler knows, sub-groups too.
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<1>)) SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::work_group_size<48>))
    SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::sub_group_size<8>)) void small_sub_groups(const u32 *in, u32 *out, int n) {
  ITEM(1);
  auto sub = it.get_sub_group();
  const int i = it.get_global_id(0);
  u32 x = i < n ? in[i] : 0;
  for (int d = 4; d > 0; d /= 2) x += sycl::permute_group_by_xor(sub, x, d);
  const u32 bits = sycl::reduce_over_group(sub, 1u << sub.get_local_linear_id(), sycl::bit_or<>());
  if (i < n) out[i] = x * 256 + bits;
}
