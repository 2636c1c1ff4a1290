// How DPC++'s runtime reports a kernel that faults: an exception that names the lost device from each operation that
// follows, and no crash, whatever the program goes on to do and to destroy. A write through a null argument is such a
// fault on a CPU-typed device, and lost on a GPU-typed one. Runs in the repository's folder, which has the kernels, under
// each of DPC++'s adapters (UR_LOADER_USE_LEVEL_ZERO_V2).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <sycl/sycl.hpp>

namespace experimental = sycl::ext::oneapi::experimental;

static int failures = 0;
static void check(bool ok, const std::string &what) {
  std::printf("%s  %s\n", ok ? "ok  " : "FAIL", what.c_str());
  failures += !ok;
}

static sycl::kernel built(const sycl::context &context, const std::string &module, const std::string &name) {
  std::ifstream file("crates/kernel-ir/tests/corpus/" + module, std::ios::binary);
  std::vector<std::byte> bytes;
  std::transform(std::istreambuf_iterator<char>(file), {}, std::back_inserter(bytes), [](char c) { return std::byte(c); });
  auto source = experimental::create_kernel_bundle_from_source(context, experimental::source_language::spirv, bytes);
  return experimental::build(source).ext_oneapi_get_kernel(name);
}

constexpr std::size_t items = 64;
static const sycl::nd_range<1> range{items, 16};

// A separate context, in which a kernel has faulted or will.
struct World {
  sycl::context context;
  sycl::queue queue;
  sycl::kernel kernel;
  int *memory;

  World(const sycl::device &device, const sycl::property_list &properties)
      : context(device), queue(context, device, properties), kernel(built(context, "faults.spv", "traps")),
        memory(sycl::malloc_shared<int>(items, queue)) {
    std::fill(memory, memory + items, 0);
  }
  ~World() { sycl::free(memory, context); }

  // Faults in work-item `at`, if there is one.
  sycl::event launch(std::uint64_t at) {
    return queue.submit([&](sycl::handler &handler) {
      handler.set_args(memory, at);
      handler.parallel_for(range, kernel);
    });
  }
};

// The text of an operation's exception; empty without one.
static std::string thrown(const std::function<void()> &operation) {
  try {
    operation();
  } catch (const sycl::exception &error) {
    return error.what();
  } catch (const std::exception &error) {
    return std::string("not SYCL's: ") + error.what();
  }
  return "";
}

static void operations(const sycl::device &device, const sycl::property_list &properties, const std::string &kind) {
  const std::pair<const char *, std::function<void(World &)>> after[] = {
      {"a launch", [](World &w) { w.launch(1 << 30).wait(); }},
      {"a memory set", [](World &w) { w.queue.memset(w.memory, 0, 4).wait(); }},
      {"a copy", [](World &w) { int to; w.queue.memcpy(&to, w.memory, 4).wait(); }},
      {"a barrier", [](World &w) { w.queue.ext_oneapi_submit_barrier().wait(); }},
      {"device memory", [](World &w) {
         int *at = sycl::malloc_device<int>(items, w.queue);
         if (!at) throw sycl::exception(sycl::errc::memory_allocation, "null");
         w.queue.memset(at, 0, 4).wait();
       }},
      {"shared memory", [](World &w) {
         int *at = sycl::malloc_shared<int>(1 << 20, w.queue);
         if (!at) throw sycl::exception(sycl::errc::memory_allocation, "null");
         *at = 1;
         w.queue.memset(at, 0, 4).wait();
       }},
      {"host memory", [](World &w) {
         int *at = sycl::malloc_host<int>(1 << 20, w.queue);
         if (!at) throw sycl::exception(sycl::errc::memory_allocation, "null");
         *at = 1;
         w.queue.memset(at, 0, 4).wait();
       }},
      {"a buffer", [](World &w) {
         std::vector<int> data(items);
         sycl::buffer<int> buffer(data.data(), items);
         w.queue.submit([&](sycl::handler &handler) {
           sycl::accessor accessor(buffer, handler);
           handler.fill(accessor, 7);
         }).wait();
         sycl::host_accessor read(buffer);
       }},
      {"another queue", [](World &w) {
         sycl::queue other(w.context, w.queue.get_device());
         other.memset(w.memory, 0, 4).wait();
       }},
      {"another kernel", [](World &w) { w.kernel = built(w.context, "nulls.spv", "reads"); w.launch(1 << 30).wait(); }},
      {"wait_and_throw", [](World &w) { w.queue.wait_and_throw(); }},
      {"host task", [](World &w) {
         w.queue.submit([&](sycl::handler &handler) { handler.host_task([] {}); }).wait();
         w.queue.memset(w.memory, 0, 4).wait();
       }},
  };
  for (const auto &[name, operation] : after) {
    std::string first, then;
    {
      World world(device, properties);
      world.launch(1 << 30).wait();
      first = thrown([&] { world.launch(5).wait(); });
      then = thrown([&] { operation(world); });
    }
    const bool lost = first.find("DEVICE_LOST") != std::string::npos;
    check(lost, kind + ": the kernel that faults: " + first);
    check(then.find("DEVICE_LOST") != std::string::npos, kind + ": " + name + " afterwards: " + then);
  }
}

static void null_argument(const sycl::device &device) {
  World world(device, {});
  sycl::kernel writes = built(world.context, "nulls.spv", "writes");
  int *none = nullptr;
  const std::string error = thrown([&] {
    world.queue.submit([&](sycl::handler &handler) {
      handler.set_args(world.memory, none);
      handler.parallel_for(range, writes);
    }).wait();
  });
  if (device.is_gpu()) {
    check(error.empty(), "a write through a null argument is lost: " + error);
    check(world.memory[items - 1] == int(items) - 1, "and the kernel does its other work");
  } else {
    check(error.find("DEVICE_LOST") != std::string::npos, "a write through a null argument is a fault: " + error);
  }
}

int main() try {
  sycl::device device;
  std::printf("device: %s\n", device.get_info<sycl::info::device::name>().c_str());
  operations(device, {}, "out of order");
  operations(device, {sycl::property::queue::in_order()}, "in order");
  operations(device, {sycl::property::queue::in_order(), sycl::property::queue::enable_profiling()}, "with times");
  null_argument(device);
  // Others are not concerned.
  World world(device, {});
  check(thrown([&] { world.launch(1 << 30).wait(); }).empty(), "a separate context works");
  check(world.memory[items - 1] == 1, "and its kernels run");
  std::printf(failures ? "sycl: FAILED\n" : "sycl: ok\n");
  return failures != 0;
} catch (const std::exception &error) {
  std::printf("FAIL  %s\n", error.what());
  return 1;
}
