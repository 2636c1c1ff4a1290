// The host's side of the kernels in tests/sycl/check, which `./x check sycl-kernels` runs under solum check: `checked FILE`
// compiles FILE with libsycl-jit, and carries out the case that its line `// case NAME` names. A case is what a program does with
// the kernels `k` and `k2`; the mistake is in the kernels, or in the case if its name says so. FILE is compiled with -g, unless
// it has a line `// optimised`: libsycl-jit optimises nothing with -g. Exit code 0: carried out; 2: wrong usage.
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <sycl/sycl.hpp>

namespace ex = sycl::ext::oneapi::experimental;
using Ints = std::vector<int>;
using Bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

static constexpr int n = 256, group = 64;
static const sycl::nd_range<1> all{n, group};

static const char *before = R"(
#include <sycl/sycl.hpp>
namespace ex = sycl::ext::oneapi::experimental;
namespace here = sycl::ext::oneapi::this_work_item;
using sycl::local_accessor, sycl::group_barrier, sycl::memory_order, sycl::memory_scope;
using In = sycl::accessor<int, 1, sycl::access_mode::read>;
using Out = sycl::accessor<int, 1, sycl::access_mode::read_write>;
#define KERNEL extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((ex::nd_range_kernel<1>)) void
template <class T> using device_atomic = sycl::atomic_ref<T, memory_order::relaxed, memory_scope::device>;
template <class T>
using group_atomic = sycl::atomic_ref<T, memory_order::relaxed, memory_scope::work_group, sycl::access::address_space::local_space>;
)";

static sycl::queue *queue;
static Bundle *bundle;

static sycl::kernel kernel(const char *name) { return bundle->ext_oneapi_get_kernel(name); }

static Bundle compiled(const std::string &source, const std::vector<std::string> &options) {
  auto read = ex::create_kernel_bundle_from_source(queue->get_context(), ex::source_language::sycl, source);
  std::string log;
  try {
    return ex::build(read, ex::properties{ex::build_options{options}, ex::save_log{&log}});
  } catch (...) {
    std::fprintf(stderr, "%s\n", log.c_str());
    throw;
  }
}

// Submits a kernel with arguments; `after`: what it waits for.
template <class... Arguments>
static sycl::event launch(sycl::queue &on, const char *name, const std::vector<sycl::event> &after, Arguments... arguments) {
  return on.submit([&](sycl::handler &handler) {
    handler.depends_on(after);
    handler.set_args(arguments...);
    handler.parallel_for(all, kernel(name));
  });
}

static Ints counted(int count = n) {
  Ints values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// Device memory: 0, 1, 2, ..., or zeros, or nothing is written.
static int *device(const Ints &values) {
  int *memory = sycl::malloc_device<int>(values.size(), *queue);
  queue->memcpy(memory, values.data(), values.size() * sizeof(int)).wait();
  return memory;
}
static int *zeros(int count = n) { return device(Ints(count, 0)); }
static int *scratch(int count = n) { return sycl::malloc_device<int>(count, *queue); }

// The host looks at all numbers.
static void use(const Ints &values) { std::printf("sum %lld\n", std::accumulate(values.begin(), values.end(), 0LL)); }
static void use(sycl::queue &on, const int *memory, int count = n) {
  Ints values(count);
  on.memcpy(values.data(), memory, count * sizeof(int)).wait();
  use(values);
}
static void release(std::initializer_list<int *> memory) {
  for (int *one : memory) sycl::free(one, *queue);
}

// --- one launch of k(in, out, n) -----------------------------------------------------------------

static void once(int *in, int *out) {
  launch(*queue, "k", {}, in, out, n).wait();
  use(*queue, out);
}
static void line() {
  int *in = device(counted()), *out = zeros();
  once(in, out);
  release({in, out});
}
static void null_input() {
  int *out = zeros();
  once(nullptr, out);
  release({out});
}
static void freed_input() {
  int *in = device(counted()), *out = zeros();
  sycl::free(in, *queue);
  once(in, out);
  release({out});
}
static void foreign_input() {
  sycl::queue other(sycl::context(queue->get_device()), queue->get_device());
  int *in = sycl::malloc_device<int>(n, other), *out = zeros();
  other.memset(in, 0, n * sizeof(int)).wait();
  once(in, out);
  sycl::free(in, other);
  release({out});
}
static void scratch_input() {
  int *in = scratch(), *out = zeros();
  once(in, out);
  release({in, out});
}
static void scratch_output() {
  int *in = device(counted()), *out = scratch();
  once(in, out);
  release({in, out});
}
template <int *Allocate(std::size_t, const sycl::queue &)> static void visible() {
  int *in = Allocate(n, *queue), *out = Allocate(n, *queue);
  for (int i = 0; i < n; ++i) in[i] = i, out[i] = 0;
  launch(*queue, "k", {}, in, out, n).wait();
  use(Ints(out, out + n));
  for (int i = 0; i < n; ++i) in[i] = -i;
  launch(*queue, "k", {}, in, out, n).wait();
  use(Ints(out, out + n));
  release({in, out});
}
static int *allocate_shared(std::size_t count, const sycl::queue &on) { return sycl::malloc_shared<int>(count, on); }
static int *allocate_host(std::size_t count, const sycl::queue &on) { return sycl::malloc_host<int>(count, on); }
static void mixed_kinds() {
  int *in = allocate_shared(n, *queue), *out = allocate_host(n, *queue), *between = scratch();
  for (int i = 0; i < n; ++i) in[i] = i;
  auto first = launch(*queue, "k", {}, in, between, n);
  launch(*queue, "k", {first}, between, out, n).wait();
  use(Ints(out, out + n));
  release({in, out, between});
}
// k(in, out, n, tile)
static void tile() {
  int *in = device(counted()), *out = zeros();
  queue
      ->submit([&](sycl::handler &handler) {
        handler.set_args(in, out, n, sycl::local_accessor<int, 1>(group, handler));
        handler.parallel_for(all, kernel("k"));
      })
      .wait();
  use(*queue, out);
  release({in, out});
}

// --- accessors -----------------------------------------------------------------------------------

template <class In, class Out> static void over(sycl::queue &on, const char *name, In &in, Out &out, int count) {
  on.submit([&](sycl::handler &handler) {
    auto from = in.template get_access<sycl::access_mode::read>(handler);
    auto to = out.template get_access<sycl::access_mode::read_write>(handler);
    handler.set_args(from, to, count);
    handler.parallel_for(sycl::nd_range<1>(count, group), kernel(name));
  });
}
static void accessors() {
  Ints values = counted(), results(n, 0);
  {
    sycl::buffer<int> in(values.data(), n), out(results.data(), n);
    over(*queue, "k", in, out, n);
  }
  use(results);
}
// A diamond: two kernels read what one wrote, a fourth reads both.
static void accessor_graph() {
  Ints values = counted(), results(n, 0);
  {
    sycl::buffer<int> in(values.data(), n), a{sycl::range<1>(n)}, b{sycl::range<1>(n)}, c{sycl::range<1>(n)};
    sycl::buffer<int> out(results.data(), n);
    over(*queue, "k", in, a, n);
    over(*queue, "k", a, b, n);
    over(*queue, "k", a, c, n);
    over(*queue, "k", b, out, n);
    over(*queue, "k", c, out, n);
  }
  use(results);
}
static void sub_buffers() {
  Ints values = counted(), results(n, 0);
  {
    sycl::buffer<int> in(values.data(), n), out(results.data(), n);
    for (int half = 0; half < 2; ++half) {
      sycl::buffer<int> from(in, sycl::id<1>(half * n / 2), sycl::range<1>(n / 2));
      sycl::buffer<int> to(out, sycl::id<1>(half * n / 2), sycl::range<1>(n / 2));
      over(*queue, "k", from, to, n / 2);
    }
  }
  use(results);
}

// --- several commands: k(a, b, n) writes b, k2(b, c, n) reads it ---------------------------------

struct Three {
  int *a = device(counted()), *b = zeros(), *c = zeros();
  ~Three() { release({a, b, c}); }
};
static void unordered() {
  Three m;
  launch(*queue, "k", {}, m.a, m.b, n);
  launch(*queue, "k2", {}, m.b, m.c, n);
  queue->wait();
  use(*queue, m.c);
}
static void ordered() {
  Three m;
  auto first = launch(*queue, "k", {}, m.a, m.b, n);
  launch(*queue, "k2", {first}, m.b, m.c, n).wait();
  use(*queue, m.c);
}
static void wrong_event() {
  Three m;
  int *d = zeros();
  launch(*queue, "k", {}, m.a, m.b, n);
  auto other = launch(*queue, "k", {}, m.a, d, n);
  launch(*queue, "k2", {other}, m.b, m.c, n);
  queue->wait();
  use(*queue, m.c);
  release({d});
}
static void in_order() {
  Three m;
  sycl::queue on(queue->get_context(), queue->get_device(), sycl::property::queue::in_order());
  for (int i = 0; i < 8; ++i) {
    on.memset(m.b, 0, n * sizeof(int));
    launch(on, "k", {}, m.a, m.b, n);
    launch(on, "k2", {}, m.b, m.c, n);
    on.memcpy(m.a, m.c, n * sizeof(int));
  }
  use(on, m.c);
}
static void copy_too_early() {
  Three m;
  Ints values(n);
  launch(*queue, "k", {}, m.a, m.b, n);
  queue->memcpy(m.c, m.b, n * sizeof(int));
  queue->wait();
  use(*queue, m.c);
}
static void barrier_between() {
  Three m;
  launch(*queue, "k", {}, m.a, m.b, n);
  queue->ext_oneapi_submit_barrier();
  launch(*queue, "k2", {}, m.b, m.c, n);
  queue->wait();
  use(*queue, m.c);
}
static void two_queues() {
  Three m;
  sycl::queue other(queue->get_context(), queue->get_device());
  launch(*queue, "k", {}, m.a, m.b, n);
  launch(other, "k2", {}, m.b, m.c, n);
  queue->wait(), other.wait();
  use(*queue, m.c);
}
static void two_queues_ordered() {
  Three m;
  sycl::queue other(queue->get_context(), queue->get_device());
  auto first = launch(*queue, "k", {}, m.a, m.b, n);
  auto second = launch(other, "k2", {first}, m.b, m.c, n);
  launch(*queue, "k", {second}, m.c, m.a, n).wait();
  use(*queue, m.a);
}
static void freed_too_early() {
  int *in = device(counted()), *out = zeros();
  sycl::queue on(queue->get_context(), queue->get_device(), sycl::property::queue::in_order());
  launch(on, "k", {}, in, out, n);
  sycl::free(in, on);
  on.wait();
  release({out});
}
static void host_task() {
  int *memory = allocate_shared(n, *queue), *out = allocate_shared(n, *queue);
  for (int i = 0; i < n; ++i) memory[i] = i;
  auto first = launch(*queue, "k", {}, memory, out, n);
  auto host = queue->submit([&](sycl::handler &handler) {
    handler.depends_on(first);
    handler.host_task([=] {
      for (int i = 0; i < n; ++i) memory[i] = out[i] + 1;
    });
  });
  launch(*queue, "k", {host}, memory, out, n).wait();
  use(Ints(out, out + n));
  release({memory, out});
}
static void graph() {
  Three m;
  ex::command_graph<ex::graph_state::modifiable> made(queue->get_context(), queue->get_device());
  made.begin_recording(*queue);
  auto first = launch(*queue, "k", {}, m.a, m.b, n);
  launch(*queue, "k2", {first}, m.b, m.c, n);
  made.end_recording();
  auto ready = made.finalize();
  for (int i = 0; i < 4; ++i) queue->ext_oneapi_graph(ready).wait();
  use(*queue, m.c);
}
static void graph_without_edge() {
  Three m;
  ex::command_graph<ex::graph_state::modifiable> made(queue->get_context(), queue->get_device());
  made.begin_recording(*queue);
  launch(*queue, "k", {}, m.a, m.b, n);
  launch(*queue, "k2", {}, m.b, m.c, n);
  made.end_recording();
  queue->ext_oneapi_graph(made.finalize()).wait();
  use(*queue, m.c);
}
static void threads() {
  std::vector<std::thread> running;
  // DPC++ 2026.2 mixes up the arguments of two threads that launch a kernel of one bundle at once: results are wrong then,
  // with `solum check` and without.
  std::mutex launching;
  for (int t = 0; t < 4; ++t)
    running.emplace_back([&, t] {
      sycl::queue own(queue->get_context(), queue->get_device(), sycl::property::queue::in_order());
      int *a = sycl::malloc_device<int>(n, own), *b = sycl::malloc_device<int>(n, own);
      Ints values = counted();
      own.memcpy(a, values.data(), n * sizeof(int));
      for (int i = 0; i < 4; ++i) {
        const std::lock_guard<std::mutex> held(launching);
        launch(own, "k", {}, a, b, n);
        launch(own, "k2", {}, b, a, n);
      }
      own.memcpy(values.data(), b, n * sizeof(int)).wait();
      sycl::free(a, own), sycl::free(b, own);
    });
  for (auto &one : running) one.join();
}

// --- kernels of many groups: k(in, out, state, n, tile), state of zeros --------------------------

static void with_state() {
  int *in = device(counted()), *out = zeros(), *state = zeros(4096);
  queue
      ->submit([&](sycl::handler &handler) {
        handler.set_args(in, out, state, n, sycl::local_accessor<int, 1>(group, handler));
        handler.parallel_for(all, kernel("k"));
      })
      .wait();
  use(*queue, out);
  release({in, out, state});
}

static const std::map<std::string, void (*)()> cases = {
    {"line", line},
    {"null-input", null_input},
    {"freed-input", freed_input},
    {"foreign-input", foreign_input},
    {"scratch-input", scratch_input},
    {"scratch-output", scratch_output},
    {"shared", visible<allocate_shared>},
    {"host", visible<allocate_host>},
    {"mixed-kinds", mixed_kinds},
    {"tile", tile},
    {"accessors", accessors},
    {"accessor-graph", accessor_graph},
    {"sub-buffers", sub_buffers},
    {"unordered", unordered},
    {"ordered", ordered},
    {"wrong-event", wrong_event},
    {"in-order", in_order},
    {"copy-too-early", copy_too_early},
    {"barrier-between", barrier_between},
    {"two-queues", two_queues},
    {"two-queues-ordered", two_queues_ordered},
    {"freed-too-early", freed_too_early},
    {"host-task", host_task},
    {"graph", graph},
    {"graph-without-edge", graph_without_edge},
    {"threads", threads},
    {"with-state", with_state},
};

int main(int count, char **arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: checked FILE\n");
    return 2;
  }
  const std::string path = arguments[1];
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string mark = "// case ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) {
    std::fprintf(stderr, "%s has no line `// case NAME`\n", path.c_str());
    return 2;
  }
  const std::string name = text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
  const auto found = cases.find(name);
  if (found == cases.end()) {
    std::fprintf(stderr, "%s: there is no case %s\n", path.c_str(), name.c_str());
    return 2;
  }
  sycl::queue on;
  queue = &on;
  std::vector<std::string> options;
  if (text.find("// optimised\n") == std::string::npos) options.push_back("-g");
  // Never destroyed: a thread of DPC++ that carries out host tasks may hold kernels longer than DPC++ knows its programs.
  bundle = new Bundle(compiled(before + ("#line 1 \"" + path + "\"\n") + text, options));
  found->second();
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "FAIL  %s\n", error.what());
  return 1;
}
