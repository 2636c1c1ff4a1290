// A small image pipeline to trace with `solum trace`: plain g++, kernels compiled at run time. Two kernels need the
// same input and may run side by side, a third needs both; a table is copied to the device for every frame although
// it never changes, and one allocation is never freed. Prints a checksum and exits with 1 when a number is wrong.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <sycl/sycl.hpp>

namespace experimental = sycl::ext::oneapi::experimental;

static const char *source = R"(
#include <sycl/sycl.hpp>
namespace experimental = sycl::ext::oneapi::experimental;

#define KERNEL extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((experimental::nd_range_kernel<1>)) void
#define INDEX sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id()

KERNEL blur(const float *in, float *out, std::uint32_t width, std::uint32_t n) {
  std::size_t i = INDEX;
  float sum = 0;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) sum += in[(i + n + y * width + x) % n];
  out[i] = sum / 9;
}

KERNEL grade(const float *in, const float *table, float *out) {
  std::size_t i = INDEX;
  out[i] = table[std::uint32_t(in[i]) & 255];
}

KERNEL mix(const float *a, const float *b, float *out) {
  std::size_t i = INDEX;
  out[i] = (a[i] + b[i]) / 2;
}
)";

int main() try {
  sycl::queue queue;
  auto bundle = experimental::create_kernel_bundle_from_source(
      queue.get_context(), experimental::source_language::sycl, std::string(source));
  auto built = experimental::build(bundle);
  sycl::kernel blur = built.ext_oneapi_get_kernel("blur");
  sycl::kernel grade = built.ext_oneapi_get_kernel("grade");
  sycl::kernel mix = built.ext_oneapi_get_kernel("mix");

  constexpr std::uint32_t width = 512, height = 256, n = width * height, frames = 3;
  const sycl::nd_range<1> range{n, 256};
  std::vector<float> image(n), table(256), result(n);
  for (std::uint32_t i = 0; i < 256; ++i) table[i] = float(255 - i);

  float *in = sycl::malloc_device<float>(n, queue);
  float *lookup = sycl::malloc_device<float>(256, queue);
  float *soft = sycl::malloc_device<float>(n, queue);
  float *graded = sycl::malloc_device<float>(n, queue);
  float *out = sycl::malloc_device<float>(n, queue);

  double sum = 0;
  for (std::uint32_t frame = 0; frame < frames; ++frame) {
    for (std::uint32_t i = 0; i < n; ++i) image[i] = float((i * 7 + frame) % 256);
    sycl::event loaded = queue.memcpy(in, image.data(), n * sizeof(float));
    sycl::event told = queue.memcpy(lookup, table.data(), 256 * sizeof(float));
    sycl::event blurred = queue.submit([&](sycl::handler &handler) {
      handler.depends_on(loaded);
      handler.set_args(in, soft, width, n);
      handler.parallel_for(range, blur);
    });
    sycl::event looked = queue.submit([&](sycl::handler &handler) {
      handler.depends_on({loaded, told});
      handler.set_args(in, lookup, graded);
      handler.parallel_for(range, grade);
    });
    sycl::event mixed = queue.submit([&](sycl::handler &handler) {
      handler.depends_on({blurred, looked});
      handler.set_args(soft, graded, out);
      handler.parallel_for(range, mix);
    });
    queue.memcpy(result.data(), out, n * sizeof(float), mixed).wait();
    for (float value : result) sum += value;
  }
  const double mean = sum / (double(n) * frames);
  std::printf("mean of %u frames: %.3f\n", frames, mean);

  // `lookup` stays: the trace's summary names it.
  for (float *memory : {in, soft, graded, out}) sycl::free(memory, queue);
  const bool good = mean > 127.4 && mean < 127.6;
  std::printf(good ? "pipeline: ok\n" : "pipeline: FAILED\n");
  return !good;
} catch (const std::exception &error) {
  std::printf("FAIL  %s\n", error.what());
  return 1;
}
