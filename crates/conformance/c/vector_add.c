// The plainest client: add two vectors; then local memory and a barrier; a regular list with a fence; a region copy.
#include "client.h"

int main(int argc, char **argv) {
  struct client client;
  CHECK(argc == 2);
  client_open(&client, argv[1]);
  client_add(&client, 1);
  client_add(&client, 1000003);
  // Groups of few work-items, which may run several as one: each work-item runs once, and no other.
  static const uint32_t sizes[] = {1, 3, 8, 16, 24}, counts[] = {1, 2, 3, 16, 1000, 1009};
  for (int s = 0; s < 5; ++s)
    for (int c = 0; c < 6; ++c)
      for (int round = 0; round < 3; ++round) client_add_in(&client, round == 1 ? 20 : 30000, counts[c], sizes[s]);

  enum { N = 4096, GROUP = 256 };
  int *in = client_shared(&client, N * 4), *out = client_shared(&client, N * 4);
  for (int i = 0; i < N; ++i) in[i] = i;
  ze_kernel_handle_t reverse = client_kernel(&client, "reverse");
  OK(zeKernelSetGroupSize(reverse, GROUP, 1, 1));
  OK(zeKernelSetArgumentValue(reverse, 0, sizeof in, &in));
  OK(zeKernelSetArgumentValue(reverse, 1, sizeof out, &out));
  OK(zeKernelSetArgumentValue(reverse, 2, GROUP * 4, NULL));

  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue;
  OK(zeCommandQueueCreate(client.context, client.device, &queue_desc, &queue));
  ze_fence_desc_t fence_desc = {ZE_STRUCTURE_TYPE_FENCE_DESC};
  ze_fence_handle_t fence;
  OK(zeFenceCreate(queue, &fence_desc, &fence));
  CHECK(zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
  ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_command_list_handle_t list;
  OK(zeCommandListCreate(client.context, client.device, &list_desc, &list));
  ze_group_count_t groups = {N / GROUP, 1, 1};
  OK(zeCommandListAppendLaunchKernel(list, reverse, &groups, NULL, 0, NULL));
  OK(zeCommandListClose(list));
  for (int round = 0; round < 3; ++round) {
    memset(out, 0xff, N * 4);
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeFenceReset(fence));
    for (int i = 0; i < N; ++i) CHECK(out[i] == i / GROUP * GROUP + GROUP - 1 - i % GROUP);
  }

  // 3 rows of 5 ints out of a 64-int pitch into a 32-int pitch.
  ze_copy_region_t from = {7, 2, 0, 5 * 4, 3, 1}, to = {0, 1, 0, 5 * 4, 3, 1};
  from.originX = 7 * 4;
  memset(out, 0, N * 4);
  OK(zeCommandListAppendMemoryCopyRegion(client.list, out, &to, 32 * 4, 0, in, &from, 64 * 4, 0, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client.list, UINT64_MAX));
  for (int row = 0; row < 3; ++row)
    for (int x = 0; x < 6; ++x) CHECK(out[(row + 1) * 32 + x] == (x < 5 ? (row + 2) * 64 + 7 + x : 0));

  OK(zeFenceDestroy(fence));
  OK(zeCommandListDestroy(list));
  OK(zeCommandQueueDestroy(queue));
  OK(zeKernelDestroy(reverse));
  OK(zeModuleDestroy(client.module));
  OK(zeCommandListDestroy(client.list));
  OK(zeMemFree(client.context, in));
  OK(zeMemFree(client.context, out));
  OK(zeContextDestroy(client.context));
  puts("ok");
  return 0;
}
