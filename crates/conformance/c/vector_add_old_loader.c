// vector_add's core through whichever loader argv[2] names, by the calls that Level Zero 1.3 has.
#include "client.h"
#include <dlfcn.h>

#define GET(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(library, #name); CHECK(p_##name)

int main(int argc, char **argv) {
  CHECK(argc == 3);
  void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  GET(zeInit); GET(zeDriverGet); GET(zeDeviceGet); GET(zeContextCreate); GET(zeModuleCreate); GET(zeKernelCreate);
  GET(zeKernelSetGroupSize); GET(zeKernelSetArgumentValue); GET(zeMemAllocShared); GET(zeMemFree);
  GET(zeCommandQueueCreate); GET(zeCommandListCreate); GET(zeCommandListAppendLaunchKernel); GET(zeCommandListClose);
  GET(zeCommandQueueExecuteCommandLists); GET(zeCommandQueueSynchronize); GET(zeKernelDestroy); GET(zeModuleDestroy);
  GET(zeCommandListDestroy); GET(zeCommandQueueDestroy); GET(zeContextDestroy);

  struct client client;
  OK(p_zeInit(0));
  uint32_t count = 1;
  OK(p_zeDriverGet(&count, &client.driver));
  CHECK(count == 1);
  count = 1;
  OK(p_zeDeviceGet(client.driver, &count, &client.device));
  ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  OK(p_zeContextCreate(client.driver, &context_desc, &client.context));
  FILE *file = fopen(argv[1], "rb");
  CHECK(file);
  static unsigned char spirv[1 << 16];
  ze_module_desc_t module_desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
  module_desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  module_desc.inputSize = fread(spirv, 1, sizeof spirv, file);
  module_desc.pInputModule = spirv;
  OK(p_zeModuleCreate(client.context, client.device, &module_desc, &client.module, NULL));
  ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC};
  kernel_desc.pKernelName = "add";
  ze_kernel_handle_t kernel;
  OK(p_zeKernelCreate(client.module, &kernel_desc, &kernel));

  uint32_t n = 1000;
  float *memory[3];
  for (int i = 0; i < 3; ++i) {
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *pointer;
    OK(p_zeMemAllocShared(client.context, &device, &host, n * 4, 64, client.device, &pointer));
    memory[i] = pointer;
    for (uint32_t k = 0; k < n; ++k) memory[i][k] = (float)k;
    OK(p_zeKernelSetArgumentValue(kernel, (uint32_t)i, sizeof pointer, &pointer));
  }
  OK(p_zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  OK(p_zeKernelSetGroupSize(kernel, 8, 1, 1));
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue;
  OK(p_zeCommandQueueCreate(client.context, client.device, &queue_desc, &queue));
  ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_command_list_handle_t list;
  OK(p_zeCommandListCreate(client.context, client.device, &list_desc, &list));
  ze_group_count_t groups = {n / 8, 1, 1};
  OK(p_zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
  OK(p_zeCommandListClose(list));
  OK(p_zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
  OK(p_zeCommandQueueSynchronize(queue, UINT64_MAX));
  for (uint32_t k = 0; k < n; ++k) CHECK(memory[2][k] == 2.0f * (float)k);

  for (int i = 0; i < 3; ++i) OK(p_zeMemFree(client.context, memory[i]));
  OK(p_zeKernelDestroy(kernel));
  OK(p_zeModuleDestroy(client.module));
  OK(p_zeCommandListDestroy(list));
  OK(p_zeCommandQueueDestroy(queue));
  OK(p_zeContextDestroy(client.context));
  puts("ok");
  return 0;
}
