// Level Zero under SYCL: native handles out of SYCL objects and SYCL objects out of native handles,
// with ownership transferred and kept. Needs our level_zero headers; the wheels ship none.
// Runs in the repository's folder, which has the kernel, under each of DPC++'s adapters
// (UR_LOADER_USE_LEVEL_ZERO_V2).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <level_zero/ze_api.h>
#include <sycl/sycl.hpp>
#include <sycl/ext/oneapi/backend/level_zero.hpp>

static int failures = 0;
static void check(bool ok, const std::string &what) {
  std::printf("%s  %s\n", ok ? "ok  " : "FAIL", what.c_str());
  failures += !ok;
}

constexpr auto backend = sycl::backend::ext_oneapi_level_zero;
using sycl::ext::oneapi::level_zero::ownership;
static const std::pair<ownership, std::string> owners[] = {{ownership::transfer, "transferred"},
                                                           {ownership::keep, "kept"}};

// A queue of a native command queue or immediate list. The adapter with lists of its own takes no command queue.
static void queues(bool of_lists, bool list, ownership owner, ze_context_handle_t native_context,
                   ze_device_handle_t native_device, const sycl::context &context, const sycl::device &device) {
  ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_queue_handle_t native_queue = nullptr;
  ze_command_list_handle_t native_list = nullptr;
  std::variant<ze_command_queue_handle_t, ze_command_list_handle_t> native;
  if (list) {
    check(zeCommandListCreateImmediate(native_context, native_device, &desc, &native_list) == ZE_RESULT_SUCCESS,
          "zeCommandListCreateImmediate");
    native = native_list;
  } else {
    check(zeCommandQueueCreate(native_context, native_device, &desc, &native_queue) == ZE_RESULT_SUCCESS,
          "zeCommandQueueCreate");
    native = native_queue;
  }
  bool keeps = owner == ownership::keep;
  try {
    sycl::backend_input_t<backend, sycl::queue> input{native, device, owner, {}};
    sycl::queue queue = sycl::make_queue<backend>(input, context);
    int *value = sycl::malloc_host<int>(1, queue);
    *value = 1;
    queue.memset(value, 0, sizeof *value).wait();
    check(*value == 0, std::string(keeps ? "a kept" : "a transferred") + (list ? " list" : " queue") + " sets memory");
    sycl::free(value, queue);
  } catch (const sycl::exception &error) {
    bool refused = of_lists && !list && std::strstr(error.what(), "UNSUPPORTED_FEATURE");
    check(refused, "only the adapter with immediate lists refuses a command queue");
    keeps = true;
  }
  if (!keeps)
    return;
  auto ended = list ? zeCommandListDestroy(native_list) : zeCommandQueueDestroy(native_queue);
  check(ended == ZE_RESULT_SUCCESS, "it is ours to destroy");
}

// SYCL waits for an event that the host signals; SYCL's own is complete for Level Zero.
static void events(ze_context_handle_t native_context, ze_device_handle_t native_device, const sycl::context &context,
                   sycl::queue &queue) {
  for (auto [owner, name] : owners) {
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
    pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    pool_desc.count = 1;
    ze_event_pool_handle_t pool = nullptr;
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
    event_desc.signal = event_desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    ze_event_handle_t native = nullptr;
    check(zeEventPoolCreate(native_context, &pool_desc, 1, &native_device, &pool) == ZE_RESULT_SUCCESS &&
              zeEventCreate(pool, &event_desc, &native) == ZE_RESULT_SUCCESS,
          "zeEventCreate");
    {
      sycl::backend_input_t<backend, sycl::event> input{native, owner};
      sycl::event event = sycl::make_event<backend>(input, context);
      check(sycl::get_native<backend>(event) == native, "make_event keeps the handle");
      int *value = sycl::malloc_host<int>(1, queue);
      *value = 1;
      sycl::event set = queue.submit([&](sycl::handler &group) {
        group.depends_on(event);
        group.memset(value, 0, sizeof *value);
      });
      check(*value == 1, "a command waits for the native event");
      check(zeEventHostSignal(native) == ZE_RESULT_SUCCESS, "zeEventHostSignal");
      set.wait();
      event.wait();
      check(*value == 0, "a command runs after the " + name + " event");
      check(zeEventQueryStatus(sycl::get_native<backend>(set)) == ZE_RESULT_SUCCESS, "SYCL's event is complete");
      sycl::free(value, queue);
    }
    if (owner == ownership::keep)
      check(zeEventDestroy(native) == ZE_RESULT_SUCCESS, "the kept event is ours to destroy");
    check(zeEventPoolDestroy(pool) == ZE_RESULT_SUCCESS, "zeEventPoolDestroy");
  }
}

// A bundle of a native module, and a kernel of that which SYCL launches.
static void kernels(ze_context_handle_t native_context, ze_device_handle_t native_device, const sycl::context &context,
                    sycl::queue &queue) {
  std::ifstream file("crates/kernel-ir/tests/corpus/barrier_local.spv", std::ios::binary);
  std::vector<char> words{std::istreambuf_iterator<char>(file), {}};
  for (auto [owner, name] : owners) {
    ze_module_desc_t module_desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
    module_desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    module_desc.inputSize = words.size();
    module_desc.pInputModule = reinterpret_cast<const std::uint8_t *>(words.data());
    ze_module_handle_t module = nullptr;
    ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC};
    kernel_desc.pKernelName = "reverse";
    ze_kernel_handle_t native = nullptr;
    check(zeModuleCreate(native_context, native_device, &module_desc, &module, nullptr) == ZE_RESULT_SUCCESS &&
              zeKernelCreate(module, &kernel_desc, &native) == ZE_RESULT_SUCCESS,
          "zeModuleCreate and zeKernelCreate");
    {
      using bundle_t = sycl::kernel_bundle<sycl::bundle_state::executable>;
      sycl::backend_input_t<backend, bundle_t> bundle_input{module, owner};
      bundle_t bundle = sycl::make_kernel_bundle<backend, sycl::bundle_state::executable>(bundle_input, context);
      auto modules = sycl::get_native<backend>(bundle);
      check(modules.size() == 1 && modules[0] == module, "make_kernel_bundle keeps the handle");
      sycl::backend_input_t<backend, sycl::kernel> input{bundle, native, owner};
      sycl::kernel kernel = sycl::make_kernel<backend>(input, context);
      check(sycl::get_native<backend>(kernel) == native, "make_kernel keeps the handle");
      constexpr std::size_t group = 64, count = 4 * group;
      int *from = sycl::malloc_shared<int>(count, queue), *to = sycl::malloc_shared<int>(count, queue);
      std::iota(from, from + count, 0);
      queue
          .submit([&](sycl::handler &commands) {
            commands.set_args(from, to);
            commands.parallel_for(sycl::nd_range<1>(count, group), kernel);
          })
          .wait();
      bool right = true;
      for (std::size_t i = 0; i < count; ++i)
        right &= to[i] == int(i / group * group + (group - 1 - i % group));
      check(right, "SYCL launches the " + name + " kernel");
      sycl::free(from, queue);
      sycl::free(to, queue);
    }
    if (owner == ownership::keep)
      check(zeKernelDestroy(native) == ZE_RESULT_SUCCESS && zeModuleDestroy(module) == ZE_RESULT_SUCCESS,
            "the kept module and kernel are ours to destroy");
  }
}

// A buffer over native memory, whose native memory is told in turn.
static void buffers(ze_context_handle_t native_context, ze_device_handle_t native_device, const sycl::context &context,
                    sycl::queue &queue) {
  constexpr std::size_t count = 1024;
  for (auto [owner, name] : owners) {
    ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *native = nullptr;
    check(zeMemAllocShared(native_context, &device_desc, &host_desc, count * sizeof(int), 64, native_device,
                           &native) == ZE_RESULT_SUCCESS,
          "zeMemAllocShared");
    int *values = static_cast<int *>(native);
    std::iota(values, values + count, 0);
    {
      sycl::backend_input_t<backend, sycl::buffer<int, 1>> input{native, owner};
      sycl::buffer<int, 1> buffer = sycl::make_buffer<backend, int, 1>(input, context);
      check(buffer.size() == count, "make_buffer takes the allocation's size");
      void *seen = nullptr;
      queue
          .submit([&](sycl::handler &commands) {
            sycl::accessor access(buffer, commands, sycl::read_write);
            commands.host_task([&seen, access](sycl::interop_handle handle) {
              seen = handle.get_native_mem<backend>(access);
            });
          })
          .wait();
      check(seen != nullptr, "get_native_mem gives memory");
      queue.submit([&](sycl::handler &commands) {
        sycl::accessor access(buffer, commands, sycl::write_only);
        commands.fill(access, 7);
      });
      sycl::host_accessor read(buffer, sycl::read_only);
      check(std::count(read.begin(), read.end(), 7) == count, "SYCL fills the " + name + " memory");
    }
    if (owner == ownership::keep)
      check(zeMemFree(native_context, native) == ZE_RESULT_SUCCESS, "the kept memory is ours to free");
  }
}

// An image of a native one.
static void images(ze_context_handle_t native_context, ze_device_handle_t native_device, const sycl::context &context,
                   sycl::queue &queue) {
  for (auto [owner, name] : owners) {
    ze_image_desc_t desc = {ZE_STRUCTURE_TYPE_IMAGE_DESC};
    desc.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
    desc.type = ZE_IMAGE_TYPE_2D;
    desc.format = {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, ZE_IMAGE_FORMAT_TYPE_UINT, ZE_IMAGE_FORMAT_SWIZZLE_R,
                   ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B, ZE_IMAGE_FORMAT_SWIZZLE_A};
    desc.width = 16;
    desc.height = 8;
    desc.depth = 1;
    ze_image_handle_t native = nullptr;
    check(zeImageCreate(native_context, native_device, &desc, &native) == ZE_RESULT_SUCCESS, "zeImageCreate");
    {
      sycl::backend_input_t<backend, sycl::image<2>> input{native, sycl::image_channel_order::rgba,
                                                          sycl::image_channel_type::unsigned_int32,
                                                          sycl::range<2>(16, 8), owner};
      sycl::image<2> image = sycl::make_image<backend, 2>(input, context, sycl::event{});
      check(image.get_range() == sycl::range<2>(16, 8), "make_image takes the " + name + " image");
    }
    if (owner == ownership::keep)
      check(zeImageDestroy(native) == ZE_RESULT_SUCCESS, "the kept image is ours to destroy");
  }
}

int main() try {
  sycl::queue queue;
  sycl::device device = queue.get_device();
  sycl::context context = queue.get_context();
  check(queue.get_backend() == backend, "the default queue is on Level Zero");

  ze_driver_handle_t driver = sycl::get_native<backend>(device.get_platform());
  ze_device_handle_t native_device = sycl::get_native<backend>(device);
  ze_context_handle_t native_context = sycl::get_native<backend>(context);
  check(driver && native_device && native_context, "platform, device and context give native handles");

  ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  check(zeDeviceGetProperties(native_device, &properties) == ZE_RESULT_SUCCESS &&
            device.get_info<sycl::info::device::name>() == properties.name,
        "the native device carries the SYCL device's name");

  sycl::platform platform = sycl::make_platform<backend>(driver);
  check(platform == device.get_platform(), "make_platform gives the platform back");
  sycl::device again = sycl::make_device<backend>(native_device);
  check(again == device, "make_device gives the device back");

  auto native_queue = sycl::get_native<backend>(queue);
  if (auto *command_queue = std::get_if<ze_command_queue_handle_t>(&native_queue))
    check(*command_queue && zeCommandQueueSynchronize(*command_queue, UINT64_MAX) == ZE_RESULT_SUCCESS,
          "the queue is a command queue and can be waited for natively");
  else
    check(zeCommandListHostSynchronize(std::get<ze_command_list_handle_t>(native_queue), UINT64_MAX) ==
              ZE_RESULT_SUCCESS,
          "the queue is an immediate list and can be waited for natively");

  // USM from Level Zero in SYCL's own context, used by a SYCL copy.
  constexpr std::size_t bytes = 4096;
  ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *shared = nullptr;
  check(zeMemAllocShared(native_context, &device_desc, &host_desc, bytes, 64, native_device, &shared) ==
            ZE_RESULT_SUCCESS,
        "zeMemAllocShared in SYCL's context");
  check(sycl::get_pointer_type(shared, context) == sycl::usm::alloc::shared, "SYCL sees it as shared USM");
  std::vector<unsigned char> from(bytes, 0x5a);
  queue.memcpy(shared, from.data(), bytes).wait();
  check(std::memcmp(shared, from.data(), bytes) == 0, "SYCL copies into it");
  check(zeMemFree(native_context, shared) == ZE_RESULT_SUCCESS, "zeMemFree");

  // SYCL's USM seen natively.
  void *usm = sycl::malloc_device(bytes, queue);
  ze_memory_allocation_properties_t allocation = {ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
  ze_device_handle_t owner = nullptr;
  check(zeMemGetAllocProperties(native_context, usm, &allocation, &owner) == ZE_RESULT_SUCCESS &&
            allocation.type == ZE_MEMORY_TYPE_DEVICE && owner == native_device,
        "Level Zero sees SYCL's device USM and its device");
  sycl::free(usm, queue);

  // Our own context, kept: we destroy it when SYCL no longer uses it.
  ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  ze_context_handle_t kept = nullptr;
  check(zeContextCreate(driver, &context_desc, &kept) == ZE_RESULT_SUCCESS, "zeContextCreate");
  {
    sycl::backend_input_t<backend, sycl::context> input{kept, {device}, ownership::keep};
    sycl::context ours = sycl::make_context<backend>(input);
    check(sycl::get_native<backend>(ours) == kept, "make_context keeps the handle");
    sycl::queue on_ours(ours, device);
    unsigned char *value = sycl::malloc_shared<unsigned char>(1, on_ours);
    on_ours.memset(value, 7, 1).wait();
    check(*value == 7, "a queue on it sets memory");
    sycl::free(value, on_ours);
  }
  check(zeContextGetStatus(kept) == ZE_RESULT_SUCCESS, "the kept context is alive after SYCL released it");
  check(zeContextDestroy(kept) == ZE_RESULT_SUCCESS, "and ours to destroy");

  // A context and a queue transferred: SYCL destroys them.
  ze_context_handle_t given = nullptr;
  check(zeContextCreate(driver, &context_desc, &given) == ZE_RESULT_SUCCESS, "zeContextCreate");
  {
    sycl::backend_input_t<backend, sycl::context> input{given, {device}, ownership::transfer};
    sycl::context theirs = sycl::make_context<backend>(input);
    for (bool list : {false, true})
      for (ownership owner : {ownership::transfer, ownership::keep})
        queues(native_queue.index() == 1, list, owner, given, native_device, theirs, device);
  }
  events(native_context, native_device, context, queue);
  kernels(native_context, native_device, context, queue);
  buffers(native_context, native_device, context, queue);
  images(native_context, native_device, context, queue);
  std::printf(failures ? "interoperate: FAILED\n" : "interoperate: ok\n");
  return failures != 0;
} catch (const std::exception &error) {
  std::printf("FAIL  %s\n", error.what());
  return 1;
}
