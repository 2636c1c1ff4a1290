// What the C clients share: a check that names its line, and a program made ready.
#ifndef CLIENT_H
#define CLIENT_H
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/ze_api.h>

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);         \
      _Exit(1);                                                                       \
    }                                                                                 \
  } while (0)

// With CLIENT_CANCELLED set, a cancellation of the calling thread is pending in every call. It must not act there.
static inline void client_cancelled(void *call) {
  if (!getenv("CLIENT_CANCELLED")) return;
  fprintf(stderr, "the thread was cancelled inside %s\n", (const char *)call);
  _Exit(1);
}

static inline void client_enter(void) {
  static __thread int is_pending;
  if (!getenv("CLIENT_CANCELLED")) return;
  if (!is_pending) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    is_pending = 1;
  }
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
}

static inline void client_leave(void) {
  if (getenv("CLIENT_CANCELLED")) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

#define OK(call)                                                                      \
  do {                                                                                \
    ze_result_t result_;                                                              \
    pthread_cleanup_push(client_cancelled, (char *)#call);                            \
    client_enter();                                                                   \
    result_ = (call);                                                                 \
    client_leave();                                                                   \
    pthread_cleanup_pop(0);                                                           \
    if (result_ != ZE_RESULT_SUCCESS) {                                               \
      fprintf(stderr, "%s:%d: %s returned %#x\n", __FILE__, __LINE__, #call, result_); \
      _Exit(1);                                                                       \
    }                                                                                 \
  } while (0)

struct client {
  ze_driver_handle_t driver;
  ze_device_handle_t device;
  ze_context_handle_t context;
  ze_module_handle_t module;
  ze_command_list_handle_t list; // immediate, asynchronous, in order: programs append copies and launches of one datum
};

static inline void client_driver(struct client *client) {
  uint32_t count = 1;
  ze_init_driver_type_desc_t types = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC};
  types.flags = UINT32_MAX;
  OK(zeInitDrivers(&count, &client->driver, &types));
  CHECK(count == 1);
  count = 1;
  OK(zeDeviceGet(client->driver, &count, &client->device));
  CHECK(count == 1);
}

// Context, module and list on the client's device.
static inline void client_load(struct client *client, const char *spirv_path) {
  ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  OK(zeContextCreate(client->driver, &context_desc, &client->context));
  FILE *file = fopen(spirv_path, "rb");
  CHECK(file);
  static unsigned char spirv[1 << 16];
  size_t size = fread(spirv, 1, sizeof spirv, file);
  fclose(file);
  ze_module_desc_t module_desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
  module_desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  module_desc.inputSize = size;
  module_desc.pInputModule = spirv;
  OK(zeModuleCreate(client->context, client->device, &module_desc, &client->module, NULL));
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  queue_desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  OK(zeCommandListCreateImmediate(client->context, client->device, &queue_desc, &client->list));
}

static inline void client_open(struct client *client, const char *spirv_path) {
  client_driver(client);
  client_load(client, spirv_path);
}

static inline ze_kernel_handle_t client_kernel(struct client *client, const char *name) {
  ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC};
  desc.pKernelName = name;
  ze_kernel_handle_t kernel;
  OK(zeKernelCreate(client->module, &desc, &kernel));
  return kernel;
}

static inline void *client_shared(struct client *client, size_t bytes) {
  ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *pointer = NULL;
  OK(zeMemAllocShared(client->context, &device, &host, bytes, 64, client->device, &pointer));
  memset(pointer, 0, bytes);
  return pointer;
}

// c[i] = a[i] + b[i] over n floats, in so many groups of so many work-items; checked, also that no more is written.
static inline void client_add_in(struct client *client, uint32_t n, uint32_t count, uint32_t size) {
  uint32_t room = (n > count * size ? n : count * size) * 4;
  float *a = client_shared(client, room), *b = client_shared(client, room), *c = client_shared(client, room);
  for (uint32_t i = 0; i < n; ++i) a[i] = (float)i, b[i] = 2.0f * (float)i;
  ze_kernel_handle_t kernel = client_kernel(client, "add");
  OK(zeKernelSetGroupSize(kernel, size, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof a, &a));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof b, &b));
  OK(zeKernelSetArgumentValue(kernel, 2, sizeof c, &c));
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {count, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  for (uint32_t i = 0; i < room / 4; ++i) CHECK(c[i] == (i < n && i < count * size ? 3.0f * (float)i : 0.0f));
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(client->context, a));
  OK(zeMemFree(client->context, b));
  OK(zeMemFree(client->context, c));
}

static inline void client_add(struct client *client, uint32_t n) { client_add_in(client, n, (n + 63) / 64, 64); }

// A kernel that runs until *stop is set; the caller gets the flag.
static inline volatile uint32_t *client_spin(struct client *client) {
  uint32_t *memory = client_shared(client, 4096), *turns = memory + 512;
  ze_kernel_handle_t kernel = client_kernel(client, "spin");
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof turns, &turns));
  ze_group_count_t groups = {1, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
  return memory;
}
#endif
