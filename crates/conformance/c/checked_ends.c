// A program with mistakes in its kernels that ends in the way that it is told, for solum check: `checked_ends MODULE WAY`.
#include "client.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 64, LISTS = 4, LAUNCHES = 8 };

// `add` over twice as many floats as the buffers have, or `reverse`, which does the same; the host does not see it.
static void wrong_launch(struct client *client, ze_command_list_handle_t list, const char *name) {
  float *memory[3];
  ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_kernel_handle_t kernel = client_kernel(client, name);
  int is_add = !strcmp(name, "add");
  uint32_t n = 2 * ITEMS, zero = 0;
  for (int i = 0; i < 3; ++i) {
    // The last buffer has room for all: nothing of anybody else is overwritten.
    size_t bytes = (i == (is_add ? 2 : 1) ? n : ITEMS) * sizeof **memory;
    OK(zeMemAllocDevice(client->context, &desc, bytes, 64, client->device, (void **)&memory[i]));
    OK(zeCommandListAppendMemoryFill(list, memory[i], &zero, sizeof zero, bytes, NULL, 0, NULL));
  }
  OK(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof *memory, &memory[0]));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof *memory, &memory[1]));
  if (is_add) {
    OK(zeKernelSetArgumentValue(kernel, 2, sizeof *memory, &memory[2]));
    OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  } else {
    OK(zeKernelSetArgumentValue(kernel, 2, ITEMS * sizeof **memory, NULL));
  }
  ze_group_count_t groups = {2, 1, 1};
  OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(list, UINT64_MAX));
  for (int i = 0; i < 3; ++i) OK(zeMemFree(client->context, memory[i]));
  OK(zeKernelDestroy(kernel));
}

// `add` in place, over more floats than the second buffer has: the last group is wrong. The others add once.
static void add_in_place(struct client *client) {
  enum { COUNT = 1 << 18 };
  float *memory[2], one = 1, two = 2, *sums = malloc(COUNT * sizeof *sums);
  ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_kernel_handle_t kernel = client_kernel(client, "add");
  uint32_t n = COUNT;
  size_t bytes[] = {COUNT * sizeof *sums, (COUNT - ITEMS) * sizeof *sums};
  for (int i = 0; i < 2; ++i) {
    OK(zeMemAllocDevice(client->context, &desc, bytes[i], 64, client->device, (void **)&memory[i]));
    OK(zeCommandListAppendMemoryFill(client->list, memory[i], i ? &two : &one, sizeof one, bytes[i], NULL, 0, NULL));
  }
  OK(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
  int arguments[] = {0, 1, 0};
  for (uint32_t i = 0; i < 3; ++i) OK(zeKernelSetArgumentValue(kernel, i, sizeof *memory, &memory[arguments[i]]));
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {COUNT / ITEMS, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListAppendMemoryCopy(client->list, sums, memory[0], bytes[0], NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  for (int i = 0; i < COUNT - ITEMS; ++i) CHECK(sums[i] == 3);
  for (int i = 0; i < 2; ++i) OK(zeMemFree(client->context, memory[i]));
  OK(zeKernelDestroy(kernel));
  free(sums);
}

static void *many_launches(void *argument) {
  struct client *client = argument;
  ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  ze_command_list_handle_t list;
  OK(zeCommandListCreateImmediate(client->context, client->device, &desc, &list));
  for (int i = 0; i < LAUNCHES; ++i) wrong_launch(client, list, i % 2 ? "reverse" : "add");
  OK(zeCommandListDestroy(list));
  return NULL;
}

int main(int argc, char **argv) {
  struct client client;
  CHECK(argc == 3);
  const char *way = argv[2];
  client_open(&client, argv[1]);
  if (!strcmp(way, "threads")) {
    pthread_t threads[LISTS];
    for (int i = 0; i < LISTS; ++i) CHECK(!pthread_create(&threads[i], NULL, many_launches, &client));
    for (int i = 0; i < LISTS; ++i) CHECK(!pthread_join(threads[i], NULL));
    return 0;
  }
  if (!strcmp(way, "in-place")) {
    add_in_place(&client);
    return 0;
  }
  wrong_launch(&client, client.list, strcmp(way, "second") ? "add" : "reverse");
  char *second[] = {argv[0], argv[1], (char *)"second", NULL};
  if (!strcmp(way, "exec")) execv(argv[0], second);
  if (!strcmp(way, "fork")) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) execv(argv[0], second);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  if (!strcmp(way, "fork-only")) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) exit(0);
    CHECK(waitpid(child, NULL, 0) == child);
  }
  if (!strcmp(way, "crash")) *(volatile int *)8 = 1;
  if (!strcmp(way, "abort")) abort();
  if (!strcmp(way, "kill")) raise(SIGKILL);
  if (!strcmp(way, "_exit")) _exit(5);
  if (!strcmp(way, "exit")) exit(5);
  return 0;
}
