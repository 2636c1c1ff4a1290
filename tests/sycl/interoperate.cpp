// Level Zero under SYCL: native handles out of SYCL objects and SYCL objects out of native handles,
// with ownership transferred and kept. Needs our level_zero headers; the wheels ship none.
#include <cstdio>
#include <cstring>
#include <vector>

#include <level_zero/ze_api.h>
#include <sycl/sycl.hpp>
#include <sycl/ext/oneapi/backend/level_zero.hpp>

static int failures = 0;
static void check(bool ok, const char *what) {
  std::printf("%s  %s\n", ok ? "ok  " : "FAIL", what);
  failures += !ok;
}

int main() try {
  constexpr auto backend = sycl::backend::ext_oneapi_level_zero;
  using sycl::ext::oneapi::level_zero::ownership;
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

  // A context of ours, kept: we destroy it after SYCL is done with it.
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
  check(zeContextGetStatus(kept) == ZE_RESULT_SUCCESS, "after SYCL let go the kept context is alive");
  check(zeContextDestroy(kept) == ZE_RESULT_SUCCESS, "and ours to destroy");

  // A context and a queue transferred: SYCL destroys them.
  ze_context_handle_t given = nullptr;
  check(zeContextCreate(driver, &context_desc, &given) == ZE_RESULT_SUCCESS, "zeContextCreate");
  {
    sycl::backend_input_t<backend, sycl::context> input{given, {device}, ownership::transfer};
    sycl::context theirs = sycl::make_context<backend>(input);
    ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    ze_command_queue_handle_t command_queue = nullptr;
    check(zeCommandQueueCreate(given, native_device, &queue_desc, &command_queue) == ZE_RESULT_SUCCESS,
          "zeCommandQueueCreate");
    sycl::backend_input_t<backend, sycl::queue> queue_input{command_queue, device, ownership::transfer, {}};
    sycl::queue queue_on_theirs = sycl::make_queue<backend>(queue_input, theirs);
    int *value = sycl::malloc_host<int>(1, queue_on_theirs);
    queue_on_theirs.memset(value, 0, sizeof *value).wait();
    check(*value == 0, "a transferred queue sets memory");
    sycl::free(value, queue_on_theirs);
  }
  std::printf(failures ? "interoperate: FAILED\n" : "interoperate: ok\n");
  return failures != 0;
} catch (const std::exception &error) {
  std::printf("FAIL  %s\n", error.what());
  return 1;
}
