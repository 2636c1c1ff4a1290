// With SOLUM_DEVICES=cpu:2,discrete: no way leads from one device to the memory of the other, and the way of its own does.
#include "client.h"

static struct client client;
static ze_device_handle_t devices[2];
static ze_command_list_handle_t list; // of the second device
static ze_kernel_handle_t kernel;     // of a module for it

static ze_result_t launch(uint64_t address) {
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof address, &address));
  ze_group_count_t groups = {1, 1, 1};
  return zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL);
}

static void refused(ze_result_t code) {
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(client.driver, &text));
  if (code != ZE_RESULT_ERROR_INVALID_ARGUMENT || !strstr(text, "memory of device 0")) {
    fprintf(stderr, "%#x: %s\n", code, text);
    _Exit(1);
  }
}

// Memory of a device, mapped.
static void *mapped(ze_device_handle_t device, size_t bytes) {
  ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, NULL, ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE, bytes};
  ze_physical_mem_handle_t memory;
  OK(zePhysicalMemCreate(client.context, device, &desc, &memory));
  void *at = NULL;
  OK(zeVirtualMemReserve(client.context, NULL, bytes, &at));
  OK(zeVirtualMemMap(client.context, at, bytes, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  return at;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  uint32_t count = 1;
  ze_init_driver_type_desc_t types = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC};
  types.flags = UINT32_MAX;
  OK(zeInitDrivers(&count, &client.driver, &types));
  count = 2;
  OK(zeDeviceGet(client.driver, &count, devices));
  CHECK(count == 2);
  ze_bool_t peers = 1;
  OK(zeDeviceCanAccessPeer(devices[1], devices[0], &peers));
  CHECK(!peers);
  client.device = devices[1];
  client_load(&client, argv[1]);
  list = client.list;
  kernel = client_kernel(&client, "reverse");
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 2, 64, NULL));
  size_t page = 0;
  OK(zeVirtualMemQueryPageSize(client.context, client.device, 1, &page));
  void *memory[2][2];
  for (int i = 0; i < 2; ++i) {
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    OK(zeMemAllocDevice(client.context, &desc, page, 0, devices[i], &memory[i][0]));
    memory[i][1] = mapped(devices[i], page);
    for (int j = 0; j < 2; ++j) *(uint32_t *)memory[i][j] = 0;
  }
  void *shared = client_shared(&client, page);
  for (int j = 0; j < 2; ++j) {
    uint64_t out = (uint64_t)(uintptr_t)memory[0][j];
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof out, &shared));
    refused(launch(out));
    refused(zeCommandListAppendMemoryCopy(list, memory[1][0], memory[0][j], 4, NULL, 0, NULL));
    uint32_t zero = 0;
    refused(zeCommandListAppendMemoryFill(list, memory[0][j], &zero, 4, 4, NULL, 0, NULL));
    refused(zeCommandListAppendWriteGlobalTimestamp(list, memory[0][j], NULL, 0, NULL));
    ze_group_count_t *counts = memory[0][j];
    refused(zeCommandListAppendLaunchKernelIndirect(list, kernel, counts, NULL, 0, NULL));
  }
  // A kernel and a module of the other device's, too.
  struct client other = client;
  other.device = devices[0];
  client_load(&other, argv[1]);
  ze_kernel_handle_t foreign = client_kernel(&other, "empty");
  ze_group_count_t groups = {1, 1, 1};
  CHECK(zeCommandListAppendLaunchKernel(list, foreign, &groups, NULL, 0, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  // Its own memory, by either way.
  for (int j = 0; j < 2; ++j) {
    *(uint32_t *)memory[1][j] = 40 + (uint32_t)j;
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof shared, &shared));
    OK(launch((uint64_t)(uintptr_t)memory[1][j]));
    OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    CHECK(*(uint32_t *)shared == 40 + (uint32_t)j);
  }
  OK(zeDeviceSynchronize(devices[0]));
  OK(zeDeviceSynchronize(devices[1]));
  puts("ok");
  return 0;
}
