// Two processes share memory, physical memory and events by handles; then one of them dies, and the other goes on.
// With argv[2] "child" this is the second process, started with exec: it reads the handles from standard input.
#include "client.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct letter {
  ze_ipc_mem_handle_t memory, neighbour, physical;
  ze_ipc_event_pool_handle_t pool;
  ze_ipc_event_counter_based_handle_t start, answer;
};

enum { N = 1000 };

static ze_event_handle_t counter(const struct client *client, uint32_t flags) {
  ze_event_counter_based_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC};
  desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE | flags;
  ze_event_handle_t event;
  OK(zeEventCounterBasedCreate(client->context, client->device, &desc, &event));
  return event;
}

static ze_event_handle_t event_of(ze_event_pool_handle_t pool, uint32_t index) {
  ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
  desc.index = index;
  desc.signal = desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t event;
  OK(zeEventCreate(pool, &desc, &event));
  return event;
}

// Opens everything, adds on a list that waits for the parent's event and signals its own.
static int child(const char *spirv, int dies) {
  struct client client;
  client_open(&client, spirv);
  struct letter letter;
  CHECK(read(0, &letter, sizeof letter) == sizeof letter);
  void *memory, *again, *neighbour, *physical;
  OK(zeMemOpenIpcHandle(client.context, client.device, letter.memory, 0, &memory));
  OK(zeMemOpenIpcHandle(client.context, client.device, letter.memory, 0, &again));
  OK(zeMemOpenIpcHandle(client.context, client.device, letter.neighbour, 0, &neighbour));
  OK(zeMemOpenIpcHandle(client.context, client.device, letter.physical, 0, &physical));
  CHECK(memory != again && *(uint32_t *)neighbour == 77 && *(uint32_t *)physical == 99);
  void *base = NULL;
  size_t size = 0;
  OK(zeMemGetAddressRange(client.context, (char *)memory + 100, &base, &size));
  CHECK(base == memory && size >= N * 4 && size < 2 * N * 4);
  CHECK(zeMemFree(client.context, memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ze_event_pool_handle_t pool;
  OK(zeEventPoolOpenIpcHandle(client.context, letter.pool, &pool));
  ze_event_handle_t go = event_of(pool, 0), done = event_of(pool, 1);
  ze_event_handle_t start, answer;
  OK(zeEventCounterBasedOpenIpcHandle(client.context, letter.start, &start));
  OK(zeEventCounterBasedOpenIpcHandle(client.context, letter.answer, &answer));
  if (dies) {
    OK(zeEventQueryStatus(answer));
    // A signal that never comes: the next one counts.
    OK(zeCommandListAppendBarrier(client.list, answer, 1, &start));
    CHECK(zeEventQueryStatus(start) == ZE_RESULT_NOT_READY && zeEventQueryStatus(answer) == ZE_RESULT_NOT_READY);
    raise(SIGKILL);
  }
  float *b = client_shared(&client, N * 4);
  for (int i = 0; i < N; ++i) b[i] = 1.0f;
  ze_kernel_handle_t kernel = client_kernel(&client, "add");
  uint32_t n = N;
  OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof b, &b));
  OK(zeKernelSetArgumentValue(kernel, 2, sizeof again, &again));
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {(N + 63) / 64, 1, 1};
  // The parent's list gives `start` when its host gives `go`.
  ze_event_handle_t before[2] = {go, start};
  OK(zeCommandListAppendBarrier(client.list, answer, 1, &start));
  OK(zeCommandListAppendLaunchKernel(client.list, kernel, &groups, done, 2, before));
  OK(zeEventHostSynchronize(done, UINT64_MAX));
  OK(zeMemCloseIpcHandle(client.context, again));
  CHECK(zeMemCloseIpcHandle(client.context, again) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeMemCloseIpcHandle(client.context, memory));
  OK(zeEventHostSynchronize(answer, UINT64_MAX));
  OK(zeEventCounterBasedCloseIpcHandle(start));
  OK(zeEventCounterBasedCloseIpcHandle(answer));
  OK(zeEventDestroy(go));
  OK(zeEventDestroy(done));
  OK(zeEventPoolCloseIpcHandle(pool));
  return 0;
}

static pid_t start(const char *self, const char *spirv, const char *role, const struct letter *letter) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    dup2(ends[0], 0);
    close(ends[1]);
    execl(self, self, spirv, role, NULL);
    _exit(127);
  }
  close(ends[0]);
  CHECK(write(ends[1], letter, sizeof *letter) == sizeof *letter);
  close(ends[1]);
  return pid;
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  if (argc == 3) return child(argv[1], strcmp(argv[2], "dies") == 0);
  struct client client;
  client_open(&client, argv[1]);
  ze_driver_ipc_properties_t ipc = {ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
  OK(zeDriverGetIpcProperties(client.driver, &ipc));
  CHECK(ipc.flags == (ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL));

  struct letter letter;
  float *memory = client_shared(&client, N * 4);
  uint32_t *neighbour = client_shared(&client, 4);
  for (int i = 0; i < N; ++i) memory[i] = (float)i;
  *neighbour = 77;
  OK(zeMemGetIpcHandle(client.context, memory, &letter.memory));
  OK(zeMemGetIpcHandle(client.context, neighbour, &letter.neighbour));
  CHECK(zeMemGetIpcHandle(client.context, (char *)memory + 4, &letter.memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);

  // Physical memory by its handle: no mapping is needed to send it, one to fill it.
  size_t page;
  OK(zeVirtualMemQueryPageSize(client.context, client.device, 1, &page));
  ze_physical_mem_desc_t physical_desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
  physical_desc.size = page;
  ze_physical_mem_handle_t physical;
  OK(zePhysicalMemCreate(client.context, client.device, &physical_desc, &physical));
  void *reserved;
  OK(zeVirtualMemReserve(client.context, NULL, 2 * page, &reserved));
  OK(zeVirtualMemMap(client.context, reserved, page, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  *(uint32_t *)reserved = 99;
  OK(zeMemGetIpcHandle(client.context, (void *)physical, &letter.physical));

  ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC;
  pool_desc.count = 2;
  ze_event_pool_handle_t pool;
  OK(zeEventPoolCreate(client.context, &pool_desc, 0, NULL, &pool));
  OK(zeEventPoolGetIpcHandle(pool, &letter.pool));
  ze_event_handle_t go = event_of(pool, 0), done = event_of(pool, 1);

  ze_event_handle_t begin = counter(&client, ZE_EVENT_COUNTER_BASED_FLAG_IPC);
  ze_event_handle_t answer = counter(&client, ZE_EVENT_COUNTER_BASED_FLAG_IPC);
  ze_event_handle_t alone = counter(&client, 0);
  OK(zeEventCounterBasedGetIpcHandle(begin, &letter.start));
  OK(zeEventCounterBasedGetIpcHandle(answer, &letter.answer));
  CHECK(zeEventCounterBasedGetIpcHandle(alone, &letter.answer) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeCommandListAppendBarrier(client.list, begin, 1, &go));

  int status;
  pid_t pid = start(argv[0], argv[1], "dies", &letter);
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK(zeEventQueryStatus(done) == ZE_RESULT_NOT_READY);

  pid = start(argv[0], argv[1], "child", &letter);
  OK(zeEventHostSignal(go));
  OK(zeEventHostSynchronize(done, UINT64_MAX));
  for (int i = 0; i < N; ++i) CHECK(memory[i] == (float)i + 1.0f);
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(zeEventQueryStatus(begin));
  OK(zeEventQueryStatus(answer));
  uint64_t value = 0, address = 0;
  OK(zeEventCounterBasedGetDeviceAddress(answer, &value, &address));
  CHECK(value > 0 && *(volatile uint64_t *)(uintptr_t)address >= value);

  // A handle that was put back, or whose memory is gone, opens nothing.
  void *nothing;
  OK(zeMemPutIpcHandle(client.context, letter.neighbour));
  OK(zeMemFree(client.context, memory));
  CHECK(zeMemOpenIpcHandle(client.context, client.device, letter.memory, 0, &nothing) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  letter.memory.data[4] ^= 1;
  CHECK(zeMemOpenIpcHandle(client.context, client.device, letter.memory, 0, &nothing) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeVirtualMemUnmap(client.context, reserved, page));
  OK(zeVirtualMemFree(client.context, reserved, 2 * page));
  OK(zePhysicalMemDestroy(client.context, physical));
  puts("ok");
  return 0;
}
