// Two processes share memory, physical memory and events by handles; then one of them dies, and the other continues.
// With argv[2] this is the second process, started with exec. As "child" and "dies" it reads the handles from standard
// input; as "exports" it is the one that gives them, to standard output, and dies of what its parent does.
#include "client.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct letter {
  ze_ipc_mem_handle_t memory, neighbour, physical, large;
  uint64_t large_at;
  ze_ipc_event_pool_handle_t pool;
  ze_ipc_event_counter_based_handle_t start, answer;
};

enum { N = 1000, LARGE = 100001 };

// Three bytes of an allocation say which it is.
static void stamp(char *memory, size_t size, char first) {
  memory[0] = first, memory[size / 2] = first + 1, memory[size - 1] = first + 2;
}

// A view begins at the same place of a page as the allocation, which it is, and goes by `end`.
static void same(const struct client *client, char *memory, size_t size, char *view, ze_result_t end(ze_context_handle_t, void *)) {
  void *base = NULL;
  size_t has = 0;
  OK(zeMemGetAddressRange(client->context, view + size / 2, &base, &has));
  CHECK(base == view && has == size && view != memory && (((size_t)view ^ (size_t)memory) & 4095) == 0);
  CHECK(memory[0] == view[0] && memory[size / 2] == view[size / 2] && memory[size - 1] == view[size - 1]);
  stamp(view, size, memory[0] + 10);
  CHECK(memory[0] == view[0] && memory[size / 2] == view[size / 2] && memory[size - 1] == view[size - 1]);
  OK(end(client->context, view));
}

static ze_result_t close_handle(ze_context_handle_t context, void *view) { return zeMemCloseIpcHandle(context, view); }
static ze_result_t free_memory(ze_context_handle_t context, void *view) { return zeMemFree(context, view); }

// Wherever in a page an allocation begins, its handle and the descriptor in that stand for its bytes alone.
static void anywhere(const struct client *client) {
  static const size_t sizes[] = {64, 32 << 10, LARGE, (33 << 20) + 5, (129 << 20) + 7};
  int inner = 0;
  for (int turn = 0; turn < 40; ++turn) {
    size_t size = sizes[turn % 5];
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory, *view;
    OK(zeMemAllocDevice(client->context, &desc, size, 64, client->device, &memory));
    stamp(memory, size, (char)turn);
    ze_ipc_mem_handle_t handle, other;
    OK(zeMemGetIpcHandle(client->context, memory, &handle));
    OK(zeMemOpenIpcHandle(client->context, client->device, handle, 0, &view));
    same(client, memory, size, view, close_handle);
    uint64_t fd = 0;
    OK(zeMemGetFileDescriptorFromIpcHandleExp(client->context, handle, &fd));
    OK(zeMemGetIpcHandleFromFileDescriptorExp(client->context, fd, &other));
    OK(zeMemOpenIpcHandle(client->context, client->device, other, 0, &view));
    same(client, memory, size, view, close_handle);
    ze_external_memory_import_fd_t import = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD};
    import.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    import.fd = (int)fd;
    desc.pNext = &import;
    OK(zeMemAllocDevice(client->context, &desc, size, 64, client->device, &view));
    same(client, memory, size, view, free_memory);
    // Requests with another offset in the page are rejected.
    int whole = ((size_t)memory & 4095) == 0;
    inner += !whole;
    ze_result_t result = zeMemAllocDevice(client->context, &desc, size, 4096, client->device, &view);
    CHECK(result == (whole ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT));
    if (whole) same(client, memory, size, view, free_memory);
    // Whole pages, as many as the allocation has.
    ze_physical_mem_desc_t physical = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, &import};
    physical.size = (size + 4095) & ~(size_t)4095;
    ze_physical_mem_handle_t pages;
    result = zePhysicalMemCreate(client->context, client->device, &physical, &pages);
    CHECK(result == (whole ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT));
    if (whole) OK(zePhysicalMemDestroy(client->context, pages));
    physical.size += 4096;
    CHECK(zePhysicalMemCreate(client->context, client->device, &physical, &pages) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemPutIpcHandle(client->context, handle));
    OK(zeMemFree(client->context, memory));
  }
  CHECK(inner > 0);
}

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
  char *large;
  OK(zeMemOpenIpcHandle(client.context, client.device, letter.large, 0, (void **)&large));
  CHECK(((size_t)large ^ (size_t)letter.large_at) % 4096 == 0);
  CHECK(large[0] == 1 && large[LARGE / 2] == 2 && large[LARGE - 1] == 3);
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
  // The parent's list signals `start` when its host signals `go`.
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

// A child that ends with this process: else it would wait for ever, and its output's reader with it, where a check fails.
static pid_t forked(void) {
  pid_t parent = getpid(), pid = fork();
  CHECK(pid >= 0);
  if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)) _exit(126);
  return pid;
}

static pid_t start(const char *self, const char *spirv, const char *role, const struct letter *letter) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = forked();
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

// Exports handles and waits forever, and so does its own list.
static int exports(const char *spirv) {
  struct client client;
  client_open(&client, spirv);
  struct letter letter = {0};
  float *memory = client_shared(&client, N * 4);
  for (int i = 0; i < N; ++i) memory[i] = (float)i;
  OK(zeMemGetIpcHandle(client.context, memory, &letter.memory));
  OK(zeMemGetIpcHandle(client.context, client_shared(&client, 4), &letter.neighbour));
  ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC;
  pool_desc.count = 2;
  ze_event_pool_handle_t pool;
  OK(zeEventPoolCreate(client.context, &pool_desc, 0, NULL, &pool));
  OK(zeEventPoolGetIpcHandle(pool, &letter.pool));
  ze_event_handle_t never = event_of(pool, 0), signalled = event_of(pool, 1);
  OK(zeEventHostSignal(signalled));
  ze_event_handle_t begin = counter(&client, ZE_EVENT_COUNTER_BASED_FLAG_IPC);
  OK(zeEventCounterBasedGetIpcHandle(begin, &letter.start));
  OK(zeCommandListAppendBarrier(client.list, begin, 1, &never));
  CHECK(write(1, &letter, sizeof letter) == sizeof letter);
  OK(zeEventHostSynchronize(never, UINT64_MAX));
  return 1;
}

// Opened objects survive when the exporting process is killed: memory is unchanged, and others can signal events.
static void outlives_the_exporter(struct client *client, const char *self, const char *spirv) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = forked();
  if (pid == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    execl(self, self, spirv, "exports", NULL);
    _exit(127);
  }
  close(ends[1]);
  struct letter letter;
  CHECK(read(ends[0], &letter, sizeof letter) == sizeof letter);
  close(ends[0]);
  float *memory;
  OK(zeMemOpenIpcHandle(client->context, client->device, letter.memory, 0, (void **)&memory));
  ze_event_pool_handle_t pool;
  OK(zeEventPoolOpenIpcHandle(client->context, letter.pool, &pool));
  ze_event_handle_t never = event_of(pool, 0), signalled = event_of(pool, 1), begin;
  OK(zeEventCounterBasedOpenIpcHandle(client->context, letter.start, &begin));
  // Work of ours that waits for the other's when that dies.
  ze_event_handle_t after = counter(client, 0);
  float *b = client_shared(client, N * 4);
  for (int i = 0; i < N; ++i) b[i] = 1.0f;
  ze_kernel_handle_t kernel = client_kernel(client, "add");
  uint32_t n = N;
  OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof b, &b));
  OK(zeKernelSetArgumentValue(kernel, 2, sizeof memory, &memory));
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {(N + 63) / 64, 1, 1};
  ze_event_handle_t before[2] = {never, signalled};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, after, 2, before));

  int status;
  CHECK(kill(pid, SIGKILL) == 0);
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
  for (int i = 0; i < N; ++i) CHECK(memory[i] == (float)i);
  CHECK(zeEventHostSynchronize(after, 1000000) == ZE_RESULT_NOT_READY);
  // No process is left to signal it.
  CHECK(zeEventHostSynchronize(begin, 1000000) == ZE_RESULT_NOT_READY);
  // Handles that were not opened before cannot be opened, and the text says why.
  void *nothing;
  CHECK(zeMemOpenIpcHandle(client->context, client->device, letter.neighbour, 0, &nothing) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(client->driver, &text));
  CHECK(text && strstr(text, "the sender has ended"));
  OK(zeEventHostSignal(never));
  OK(zeEventHostSynchronize(after, UINT64_MAX));
  for (int i = 0; i < N; ++i) CHECK(memory[i] == (float)i + 1.0f);
  OK(zeKernelDestroy(kernel));
  OK(zeEventDestroy(after));
  OK(zeEventCounterBasedCloseIpcHandle(begin));
  OK(zeEventDestroy(never));
  OK(zeEventDestroy(signalled));
  OK(zeEventPoolCloseIpcHandle(pool));
  OK(zeMemCloseIpcHandle(client->context, memory));
  OK(zeMemFree(client->context, b));
}

// Physical memory that is exported by its address after its handle was destroyed: later memory is not taken for it.
static void exported_by_address(struct client *client, void *at, size_t page) {
  ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
  desc.size = page;
  for (uint32_t round = 0; round < 16; ++round) {
    ze_physical_mem_handle_t memory;
    ze_ipc_mem_handle_t handle;
    void *opened;
    OK(zePhysicalMemCreate(client->context, client->device, &desc, &memory));
    OK(zeVirtualMemMap(client->context, at, page, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zePhysicalMemDestroy(client->context, memory));
    *(uint32_t *)at = round;
    OK(zeMemGetIpcHandle(client->context, at, &handle));
    OK(zeMemOpenIpcHandle(client->context, client->device, handle, 0, &opened));
    CHECK(*(uint32_t *)opened == round);
    OK(zeMemCloseIpcHandle(client->context, opened));
    OK(zeVirtualMemUnmap(client->context, at, page));
  }
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  if (argc == 3 && strcmp(argv[2], "exports") == 0) return exports(argv[1]);
  if (argc == 3) return child(argv[1], strcmp(argv[2], "dies") == 0);
  struct client client;
  client_open(&client, argv[1]);
  ze_driver_ipc_properties_t ipc = {ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
  OK(zeDriverGetIpcProperties(client.driver, &ipc));
  CHECK(ipc.flags == (ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL));

  anywhere(&client);
  outlives_the_exporter(&client, argv[0], argv[1]);

  struct letter letter;
  float *memory = client_shared(&client, N * 4);
  uint32_t *neighbour = client_shared(&client, 4);
  for (int i = 0; i < N; ++i) memory[i] = (float)i;
  *neighbour = 77;
  OK(zeMemGetIpcHandle(client.context, memory, &letter.memory));
  OK(zeMemGetIpcHandle(client.context, neighbour, &letter.neighbour));
  CHECK(zeMemGetIpcHandle(client.context, (char *)memory + 4, &letter.memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);

  // Of several large ones at least one does not begin with its page.
  char *large = client_shared(&client, LARGE);
  if (((size_t)large & 4095) == 0) large = client_shared(&client, LARGE);
  CHECK((size_t)large & 4095);
  stamp(large, LARGE, 1);
  letter.large_at = (uint64_t)(uintptr_t)large;
  OK(zeMemGetIpcHandle(client.context, large, &letter.large));
  CHECK(zeMemGetIpcHandle(client.context, (void *)((size_t)large & ~(size_t)4095), &letter.large) == ZE_RESULT_ERROR_INVALID_ARGUMENT);

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

  // A handle that was closed, or whose memory was freed, cannot be opened.
  void *nothing;
  OK(zeMemPutIpcHandle(client.context, letter.neighbour));
  OK(zeMemFree(client.context, memory));
  CHECK(zeMemOpenIpcHandle(client.context, client.device, letter.memory, 0, &nothing) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  letter.memory.data[4] ^= 1;
  CHECK(zeMemOpenIpcHandle(client.context, client.device, letter.memory, 0, &nothing) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeVirtualMemUnmap(client.context, reserved, page));
  OK(zePhysicalMemDestroy(client.context, physical));
  exported_by_address(&client, reserved, page);
  OK(zeVirtualMemFree(client.context, reserved, 2 * page));
  puts("ok");
  return 0;
}
