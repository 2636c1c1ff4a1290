// Objects are destroyed in any order after their last use, also while commands still hold them; threads that
// submit end while their work runs. Nothing crashes, nothing hangs, and the next user finds all in order.
#include "client.h"
#include <pthread.h>

enum { OBJECTS = 9, ROUNDS = 300 };

static unsigned seed = 12345;
static unsigned below(unsigned n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

static void any_order(struct client *client) {
  ze_context_handle_t context = client->context;
  ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  pool_desc.count = 2;
  ze_event_pool_handle_t pool;
  OK(zeEventPoolCreate(context, &pool_desc, 1, &client->device, &pool));
  ze_event_handle_t events[2];
  for (uint32_t i = 0; i < 2; ++i) {
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
    desc.index = i;
    OK(zeEventCreate(pool, &desc, &events[i]));
  }
  ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_command_list_handle_t list;
  OK(zeCommandListCreate(context, client->device, &list_desc, &list));
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue;
  OK(zeCommandQueueCreate(context, client->device, &queue_desc, &queue));
  ze_fence_desc_t fence_desc = {ZE_STRUCTURE_TYPE_FENCE_DESC};
  ze_fence_handle_t fence;
  OK(zeFenceCreate(queue, &fence_desc, &fence));
  ze_kernel_handle_t kernel = client_kernel(client, "add");
  uint32_t n = 64;
  float *memory = client_shared(client, 3 * 4 * n);
  OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
  for (uint32_t i = 0; i < 3; ++i) {
    float *part = memory + i * n;
    OK(zeKernelSetArgumentValue(kernel, i, sizeof part, &part));
  }
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {1, 1, 1};
  OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, events[1], 1, &events[0]));
  OK(zeCommandListAppendBarrier(list, NULL, 1, &events[1]));
  OK(zeCommandListClose(list));
  OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
  OK(zeEventHostSignal(events[0]));
  OK(zeFenceHostSynchronize(fence, UINT64_MAX));
  int order[OBJECTS];
  for (int i = 0; i < OBJECTS; ++i) order[i] = i;
  for (int i = OBJECTS - 1; i > 0; --i) {
    int j = (int)below((unsigned)i + 1), k = order[i];
    order[i] = order[j], order[j] = k;
  }
  for (int i = 0; i < OBJECTS; ++i) {
    switch (order[i]) {
    case 0: OK(zeEventPoolDestroy(pool)); break;
    case 1: OK(zeEventDestroy(events[0])); break;
    case 2: OK(zeEventDestroy(events[1])); break;
    case 3: OK(zeCommandListDestroy(list)); break;
    case 4: OK(zeCommandQueueDestroy(queue)); break;
    case 5: OK(zeFenceDestroy(fence)); break;
    case 6: OK(zeKernelDestroy(kernel)); break;
    case 7: OK(zeModuleDestroy(client->module)); break;
    default: OK(zeCommandListDestroy(client->list)); break;
    }
  }
  OK(zeMemFree(context, memory));
  OK(zeContextDestroy(context));
}

// Submits, and ends without a wait for the last of it.
static void *vanish(void *data) {
  struct client *client = data;
  ze_kernel_handle_t kernel = client_kernel(client, "empty");
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  ze_group_count_t groups = {1, 1, 1};
  ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list;
  OK(zeCommandListCreateImmediate(client->context, client->device, &desc, &list));
  for (int i = 0; i < 100; ++i) {
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    if (i % 10 == 0) OK(zeCommandListHostSynchronize(list, UINT64_MAX));
  }
  return NULL;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  for (int round = 0; round < ROUNDS; ++round) {
    struct client client;
    client_open(&client, argv[1]);
    any_order(&client);
  }
  struct client client;
  client_open(&client, argv[1]);
  for (int round = 0; round < 20; ++round) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, vanish, &client) == 0);
    for (int i = 0; i < 8; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  }
  client_add(&client, 1000);
  puts("ok");
  return 0;
}
