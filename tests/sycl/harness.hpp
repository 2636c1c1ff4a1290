// What the programs share whose kernels the wheel's own libsycl-jit compiles at run time: integers must equal those that
// plain C++ computes, floats be as near as their case says. A line for each case has a digest of the results, so that
// runs of different ways to make code can be compared. A program exits with 1 when a number is wrong. It runs in the
// repository's folder, which has the kernels; arguments name the cases to run, --rounds=N repeats them with work-groups
// of other sizes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <sycl/sycl.hpp>

namespace ex = sycl::ext::oneapi::experimental;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class T> using Vector = std::vector<T>;

// --- the harness ---------------------------------------------------------------------------------

static sycl::queue *queue;
static sycl::kernel_bundle<sycl::bundle_state::executable> *bundle;
static std::string complaint;
static u64 digest;

static void complain(const std::string &what) {
  if (complaint.size() < 1000) complaint += "\n      " + what;
}
static void note(const void *bytes, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) digest = (digest ^ static_cast<const u8 *>(bytes)[i]) * 0x100000001b3u;
}

struct Random {
  u64 state;
  u64 next() {
    u64 z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  u32 below(u32 n) { return u32(next() % n); }
  double real(double low, double high) { return low + (high - low) * double(next() >> 11) * 0x1p-53; }
};

// Memory of the device between two guards; what a kernel does not write keeps a byte of its own.
template <class T> struct Array {
  static constexpr std::size_t guard = 256;
  std::size_t n;
  u8 *whole;
  explicit Array(std::size_t n) : n(n), whole(sycl::malloc_device<u8>(n * sizeof(T) + 2 * guard, *queue)) {
    queue->memset(whole, 0xcd, n * sizeof(T) + 2 * guard).wait();
  }
  Array(const Vector<T> &from) : Array(from.size()) { put(from); }
  Array(std::size_t n, T value) : Array(Vector<T>(n, value)) {}
  Array(const Array &) = delete;
  ~Array() {
    Vector<u8> bytes(n * sizeof(T) + 2 * guard);
    queue->memcpy(bytes.data(), whole, bytes.size()).wait();
    for (std::size_t i = 0; i < guard; ++i)
      if (bytes[i] != 0xcd || bytes[bytes.size() - 1 - i] != 0xcd) {
        complain("a kernel wrote beside an array of " + std::to_string(n));
        break;
      }
    sycl::free(whole, *queue);
  }
  T *data() const { return reinterpret_cast<T *>(whole + guard); }
  void put(const Vector<T> &from) { queue->memcpy(data(), from.data(), n * sizeof(T)).wait(); }
  Vector<T> get() const {
    Vector<T> values(n);
    queue->memcpy(values.data(), data(), n * sizeof(T)).wait();
    return values;
  }
};

template <class T, int D> struct Local { sycl::range<D> range; };
template <class T> static Local<T, 1> local(std::size_t n) { return {{n}}; }
template <class T> static Local<T, 2> local(std::size_t rows, std::size_t columns) { return {{rows, columns}}; }
template <class T> struct Scratch {};

template <class T> static T *bind(sycl::handler &, const Array<T> &array) { return array.data(); }
template <class T, int D> static auto bind(sycl::handler &handler, const Local<T, D> &local) {
  return sycl::local_accessor<T, D>(local.range, handler);
}
template <class T> static auto bind(sycl::handler &handler, const Scratch<T> &) { return ex::work_group_memory<T>(handler); }
template <class T> static T bind(sycl::handler &, const T &value) { return value; }

// Whole work-groups that cover `items`.
template <int D, class... Arguments>
static void run(const char *name, sycl::range<D> items, sycl::range<D> group, const Arguments &...arguments) {
  for (int d = 0; d < D; ++d) items[d] = (items[d] + group[d] - 1) / group[d] * group[d];
  const sycl::kernel kernel = bundle->ext_oneapi_get_kernel(name);
  queue->submit([&](sycl::handler &handler) {
    // Work-group memory is taken by reference.
    std::tuple bound{bind(handler, arguments)...};
    std::apply([&](auto &...each) { handler.set_args(each...); }, bound);
    handler.parallel_for(sycl::nd_range<D>(items, group), kernel);
  });
  queue->wait_and_throw();
}
template <class... Arguments> static void run(const char *name, std::size_t items, std::size_t group, const Arguments &...arguments) {
  run(name, sycl::range<1>(items), sycl::range<1>(group), arguments...);
}

static std::string text(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}
template <class T> static void same(const char *what, const Vector<T> &got, const Vector<T> &want) {
  note(got.data(), got.size() * sizeof(T));
  if (got.size() != want.size()) return complain(std::string(what) + ": sizes differ");
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool equal = got[i] == want[i] || (got[i] != got[i] && want[i] != want[i]);
    if (!equal && ++wrong <= 3)
      complain(std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(got[i]) + ", should be " + std::to_string(want[i]));
  }
  if (wrong > 3) complain(std::string(what) + ": " + std::to_string(wrong) + " of " + std::to_string(got.size()) + " wrong");
}
// |got - want| <= bound + relative * |want|, for what reductions and mathematical functions give: these may have other last
// bits where work-items run side by side.
template <class T> static void near(const char *what, const Vector<T> &got, const Vector<double> &want, double bound, double relative) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!(std::abs(double(got[i]) - want[i]) <= bound + relative * std::abs(want[i])) && ++wrong <= 3)
      complain(std::string(what) + "[" + std::to_string(i) + "] is " + text(got[i]) + ", should be " + text(want[i]));
  if (wrong > 3) complain(std::string(what) + ": " + std::to_string(wrong) + " of " + std::to_string(got.size()) + " wrong");
}

// The same for sums and products in an order of their own, of which every way to make code gives the same bits.
template <class T> static void close(const char *what, const Vector<T> &got, const Vector<double> &want, double bound, double relative) {
  note(got.data(), got.size() * sizeof(T));
  near(what, got, want, bound, relative);
}

// --- half precision ------------------------------------------------------------------------------

// Rounded once, to the nearest even.
static u16 half_of(double value) {
  const u16 sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  if (size == 0) return sign;
  // The step of the numbers around it, 2^-24 for the smallest.
  const int step = std::max(std::ilogb(size) - 10, -24);
  const int count = int(std::nearbyint(std::ldexp(size, -step)));
  return sign | u16(count + ((step + 24) << 10));
}
static double of_half(u16 bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction ? std::nan("") : INFINITY)
                                     : exponent ? std::ldexp(fraction + 1024, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size;
}
// --- cases and how they are run ------------------------------------------------------------------

static int round_now;
// A work-group of the usual size in the first round, of some other one in the rounds that follow.
static std::size_t any(std::size_t usual, std::size_t least = 1) {
  static const std::size_t sizes[] = {1, 2, 5, 16, 17, 31, 32, 33, 63, 64, 100, 127, 128, 200, 256, 384, 500, 512};
  if (round_now == 0) return usual;
  for (u64 at = Random{usual * 1000 + round_now}.next();; ++at)
    if (sizes[at % std::size(sizes)] >= least) return sizes[at % std::size(sizes)];
}

static sycl::kernel_bundle<sycl::bundle_state::executable> compiled(const std::string &source) {
  auto bundled = ex::create_kernel_bundle_from_source(queue->get_context(), ex::source_language::sycl, source);
  std::string log;
  try {
    return ex::build(bundled, ex::properties{ex::save_log{&log}});
  } catch (...) {
    std::fprintf(stderr, "%s\n", log.c_str());
    throw;
  }
}

struct Case {
  const char *name;
  void (*run)();
};
#define CASE(name) {#name, name}

static int run_all(const std::string &program, const Case *cases, std::size_t n, int count, char **arguments) try {
  std::set<std::string> wanted;
  int rounds = 1;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word.rfind("--rounds=", 0) == 0) rounds = std::max(1, std::atoi(word.c_str() + 9));
    else if (std::any_of(cases, cases + n, [&](const Case &one) { return word == one.name; })) wanted.insert(word);
    else {
      std::fprintf(stderr, "FAIL  there is no case %s, and no option but --rounds=N\n", word.c_str());
      return 1;
    }
  }
  sycl::queue on;
  queue = &on;
  const std::string path = "tests/sycl/" + program + "_kernels.cpp";
  std::ifstream file(path);
  const std::string source(std::istreambuf_iterator<char>(file), {});
  if (source.empty()) {
    std::fprintf(stderr, "FAIL  no %s here: run this in the repository's folder\n", path.c_str());
    return 1;
  }
  auto built = compiled(source);
  bundle = &built;
  int failures = 0;
  for (round_now = 0; round_now < rounds; ++round_now)
    for (const Case *one = cases; one != cases + n; ++one) {
      if (!wanted.empty() && !wanted.count(one->name)) continue;
      complaint.clear();
      digest = 0xcbf29ce484222325u;
      one->run();
      std::printf("%s  %-20s %016llx%s\n", complaint.empty() ? "ok  " : "FAIL", one->name, (unsigned long long)digest, complaint.c_str());
      std::fflush(stdout);
      failures += !complaint.empty();
    }
  std::printf("%s: %s\n", program.c_str(), failures ? "FAILED" : "ok");
  return failures != 0;
} catch (const std::exception &error) {
  std::printf("FAIL  %s\n", error.what());
  return 1;
}
