// A SYCL program without a SYCL compiler: plain g++, kernels compiled at run time by the wheel's own
// libsycl-jit. Prints what it computed and exits with 1 when a number is wrong.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <sycl/sycl.hpp>

namespace experimental = sycl::ext::oneapi::experimental;

static const char *source = R"(
#include <sycl/sycl.hpp>
namespace experimental = sycl::ext::oneapi::experimental;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((experimental::nd_range_kernel<1>))
void saxpy(float a, const float *x, float *y, std::uint32_t n) {
  std::size_t i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id();
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((experimental::nd_range_kernel<1>))
void mandelbrot(std::uint32_t *out, std::uint32_t width, std::uint32_t height, std::uint32_t limit) {
  std::size_t i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id();
  if (i >= std::size_t(width) * height) return;
  float cr = -2.0f + 3.0f * float(i % width) / float(width);
  float ci = -1.5f + 3.0f * float(i / width) / float(height);
  float zr = 0, zi = 0;
  std::uint32_t n = 0;
  while (n < limit && zr * zr + zi * zi < 4.0f) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    ++n;
  }
  out[i] = n;
}
)";

static int failures = 0;
static void check(bool ok, const char *what) {
  std::printf("%s  %s\n", ok ? "ok  " : "FAIL", what);
  failures += !ok;
}

int main() try {
  sycl::queue queue;
  sycl::device device = queue.get_device();
  std::printf("device: %s\n", device.get_info<sycl::info::device::name>().c_str());
  if (!device.ext_oneapi_can_build(experimental::source_language::sycl)) {
    std::printf("FAIL  the device cannot build SYCL source\n");
    return 1;
  }
  auto bundle = experimental::create_kernel_bundle_from_source(
      queue.get_context(), experimental::source_language::sycl, std::string(source));
  auto built = experimental::build(bundle);

  constexpr std::uint32_t n = 100'000;
  float *x = sycl::malloc_shared<float>(n, queue);
  float *y = sycl::malloc_shared<float>(n, queue);
  for (std::uint32_t i = 0; i < n; ++i) { x[i] = float(i); y[i] = 1.0f; }
  sycl::kernel saxpy = built.ext_oneapi_get_kernel("saxpy");
  queue.submit([&](sycl::handler &handler) {
    handler.set_args(2.0f, x, y, n);
    handler.parallel_for(sycl::nd_range<1>{(n + 255) / 256 * 256, 256}, saxpy);
  }).wait();
  bool exact = true;
  for (std::uint32_t i = 0; i < n; ++i) exact &= y[i] == 2.0f * float(i) + 1.0f;
  check(exact, "saxpy of 100,000 floats is exact");

  constexpr std::uint32_t width = 96, height = 32, limit = 64;
  std::uint32_t *picture = sycl::malloc_shared<std::uint32_t>(width * height, queue);
  sycl::kernel mandelbrot = built.ext_oneapi_get_kernel("mandelbrot");
  queue.submit([&](sycl::handler &handler) {
    handler.set_args(picture, width, height, limit);
    handler.parallel_for(sycl::nd_range<1>{width * height, 64}, mandelbrot);
  }).wait();
  std::uint32_t inside = 0;
  for (std::uint32_t row = 0; row < height; ++row) {
    std::string line;
    for (std::uint32_t column = 0; column < width; ++column) {
      std::uint32_t v = picture[row * width + column];
      inside += v == limit;
      line += v == limit ? '#' : v > 8 ? '+' : v > 4 ? '.' : ' ';
    }
    std::printf("      %s\n", line.c_str());
  }
  check(inside > width * height / 10 && inside < width * height / 2, "the set covers a tenth to a half of the picture");

  sycl::free(x, queue);
  sycl::free(y, queue);
  sycl::free(picture, queue);
  std::printf(failures ? "sycl: FAILED\n" : "sycl: ok\n");
  return failures != 0;
} catch (const std::exception &error) {
  std::printf("FAIL  %s\n", error.what());
  return 1;
}
