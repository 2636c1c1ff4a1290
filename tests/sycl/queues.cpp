// Measures the cost of a command group with DPC++'s runtime: the peer of `./x bench sycl`, which runs it with a case's name, the
// tasks of a run and the runs, and reads the least and the median nanoseconds of a task. Plain g++; the kernel is the one
// of the Rust benchmark, from its SPIR-V file. With --who it prints the files of the runtime and of Level Zero that it uses.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <sycl/sycl.hpp>

namespace experimental = sycl::ext::oneapi::experimental;
using Buffer = sycl::buffer<int, 1>;

static const sycl::nd_range<1> one{1, 1};

static void touch(sycl::queue &queue, sycl::kernel &store, std::vector<Buffer *> reads, Buffer &writes, size_t first,
                  size_t count) {
  queue.submit([&](sycl::handler &handler) {
    for (Buffer *read : reads) sycl::accessor<int, 1, sycl::access_mode::read> a(*read, handler);
    sycl::accessor<int, 1, sycl::access_mode::read_write> a(writes, handler, sycl::range<1>(count), sycl::id<1>(first));
    handler.set_args(a);
    handler.parallel_for(one, store);
  });
}

static void who() {
  sycl::queue queue;
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> files;
  for (std::string line; std::getline(maps, line);)
    if (line.find("/libsycl.so") != std::string::npos || line.find("/libze_") != std::string::npos)
      files.insert(line.substr(line.find('/')));
  for (const std::string &file : files) std::printf("file %s\n", file.c_str());
}

int main(int argc, char **argv) try {
  if (argc == 2 && argv[1] == std::string("--who")) {
    who();
    return 0;
  }
  if (argc != 5) {
    std::fprintf(stderr, "usage: queues FILE.spv CASE TASKS RUNS\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<std::byte> code;
  std::transform(std::istreambuf_iterator<char>(file), {}, std::back_inserter(code), [](char c) { return std::byte(c); });
  const std::string name = argv[2];
  const size_t tasks = std::strtoull(argv[3], nullptr, 10), runs = std::strtoull(argv[4], nullptr, 10), all = 16384;

  sycl::queue queue;
  sycl::queue in_order{queue.get_context(), queue.get_device(), sycl::property::queue::in_order()};
  auto source = experimental::create_kernel_bundle_from_source(queue.get_context(), experimental::source_language::spirv, code);
  sycl::kernel store = experimental::build(source).ext_oneapi_get_kernel("store");
  std::vector<int> zeros(all);
  Buffer left(zeros.data(), all), right(zeros.data(), all), both(zeros.data(), all);
  int *memory = sycl::malloc_shared<int>(64, queue);

  const auto run = [&] {
    if (name == "chain") {
      for (size_t i = 0; i < tasks; ++i) touch(queue, store, {}, left, 0, all);
    } else if (name == "diamond") {
      for (size_t i = 0; i < tasks / 4; ++i) {
        touch(queue, store, {}, both, 0, all);
        touch(queue, store, {&both}, left, 0, all);
        touch(queue, store, {&both}, right, 0, all);
        touch(queue, store, {&left, &right}, both, 0, all);
      }
    } else if (name == "usm-in-order") {
      for (size_t i = 0; i < tasks; ++i)
        in_order.submit([&](sycl::handler &handler) {
          handler.set_args(memory);
          handler.parallel_for(one, store);
        });
      in_order.wait();
    } else if (name == "submit-wait") {
      for (size_t i = 0; i < tasks; ++i) {
        touch(queue, store, {}, left, 0, all);
        queue.wait();
      }
    } else {
      return false;
    }
    queue.wait();
    return true;
  };
  std::vector<double> times;
  for (size_t i = 0; i <= runs; ++i) {
    const auto began = std::chrono::steady_clock::now();
    if (!run()) return 3;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    // The first round warms up.
    if (i > 0) times.push_back(took.count() / double(tasks));
  }
  sycl::free(memory, queue);
  std::sort(times.begin(), times.end());
  std::printf("%.1f %.1f\n", times.front(), times[times.size() / 2]);
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
