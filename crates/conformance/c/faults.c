// Every fault that a kernel, copy or fill can have, a hundred times in one process: each loses its own context, says
// where, and leaves nothing behind. With SOLUM_KERNEL_TIMEOUT_MS for the kernel that never ends: long enough that one which
// ends is never late on a busy machine.
#include "client.h"
#include <dirent.h>
#include <inttypes.h>
#include <sys/mman.h>

// Of each fault there are at least so many after things have settled that to leave one thing behind is to be found out.
enum { ROUNDS = 100, SETTLED = 30, SELDOM = 20, FEW = (ROUNDS - SETTLED) / SELDOM };

static void launch(struct client *client, ze_kernel_handle_t kernel, uint64_t address, uint32_t groups) {
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof address, &address));
  ze_group_count_t count = {groups, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &count, NULL, 0, NULL));
}

// The context is lost, and the last error holds all of `words`.
static void expect_lost(struct client *client, const char *const *words) {
  CHECK(zeCommandListHostSynchronize(client->list, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(client->driver, &text));
  for (; *words; ++words) {
    if (!strstr(text, *words)) {
      fprintf(stderr, "no \"%s\" in: %s\n", *words, text);
      _Exit(1);
    }
  }
  CHECK(zeContextGetStatus(client->context) == ZE_RESULT_ERROR_DEVICE_LOST);
  struct client next = *client;
  ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  CHECK(zeCommandListCreateImmediate(next.context, next.device, &desc, &next.list) == ZE_RESULT_ERROR_DEVICE_LOST);
}

static void close_client(struct client *client, void *memory) {
  OK(zeMemFree(client->context, memory));
  OK(zeCommandListDestroy(client->list));
  OK(zeModuleDestroy(client->module));
  OK(zeContextDestroy(client->context));
}

static int entries(const char *folder) {
  DIR *directory = opendir(folder);
  CHECK(directory);
  int count = 0;
  while (readdir(directory)) ++count;
  closedir(directory);
  return count;
}

static long lines(const char *path, const char *field) {
  FILE *file = fopen(path, "r");
  CHECK(file);
  char line[512];
  long count = 0, value = -1;
  while (fgets(line, sizeof line, file)) {
    ++count;
    if (field && strncmp(line, field, strlen(field)) == 0) value = atol(line + strlen(field));
  }
  fclose(file);
  return field ? value : count;
}

struct weight {
  int descriptors, threads;
  long mappings, kilobytes;
};

static struct weight weigh(void) {
  return (struct weight){entries("/proc/self/fd"), entries("/proc/self/task"), lines("/proc/self/maps", NULL),
                         lines("/proc/self/status", "VmRSS:")};
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  freopen("/dev/null", "w", stderr); // each lost context is a line
  struct client other;
  client_open(&other, argv[1]);
  struct weight settled = {0};
  for (int round = 0; round < ROUNDS; ++round) {
    if (round == SETTLED) settled = weigh();
    for (int fault = 0; fault < 11; ++fault) {
      struct client client;
      client_open(&client, argv[1]);
      char *memory = client_shared(&client, 4096), address[64];
      uint64_t end = (uint64_t)(uintptr_t)memory + 4096;
      ze_kernel_handle_t kernel = client_kernel(&client, "write_to");
      switch (fault) {
      case 0: // nothing is at a low address
        launch(&client, kernel, 16, 1);
        expect_lost(&client, (const char *[]){"\"write_to\"", "work-item [0, 0, 0]", "SIGSEGV at address 0x10", NULL});
        break;
      case 1: // not an address at all
        launch(&client, kernel, UINT64_C(0x8000000000000000), 1);
        expect_lost(&client, (const char *[]){"\"write_to\"", "no memory can have", NULL});
        break;
      case 2: { // known to be brief: the waiting thread runs it the short way
        for (int i = 0; i < 50; ++i) {
          launch(&client, kernel, end - 4, 1);
          OK(zeCommandListHostSynchronize(client.list, UINT64_MAX));
        }
        launch(&client, kernel, 24, 1);
        expect_lost(&client, (const char *[]){"\"write_to\"", "work-item [0, 0, 0]", "0x18", NULL});
        break;
      }
      case 3: // several groups: any of them
        launch(&client, kernel, 32, 3);
        expect_lost(&client, (const char *[]){"\"write_to\"", "work-", "0x20", NULL});
        break;
      case 4: { // far from all memory: the text names the nearest
        void *reserved = NULL;
        OK(zeVirtualMemReserve(client.context, NULL, 1 << 21, &reserved));
        uint64_t hole = (uint64_t)(uintptr_t)reserved;
        snprintf(address, sizeof address, "%#" PRIx64, hole);
        launch(&client, kernel, hole, 1);
        expect_lost(&client, (const char *[]){"\"write_to\"", address, "SIGSEGV", NULL});
        OK(zeVirtualMemFree(client.context, reserved, 1 << 21));
        break;
      }
      case 5:
        OK(zeCommandListAppendMemoryCopy(client.list, memory, (void *)64, 8, NULL, 0, NULL));
        expect_lost(&client, (const char *[]){"copy of 8 bytes", "0x40", NULL});
        break;
      case 6: {
        uint32_t pattern = 7;
        OK(zeCommandListAppendMemoryFill(client.list, (void *)128, &pattern, 4, 64, NULL, 0, NULL));
        expect_lost(&client, (const char *[]){"fill of 64 bytes", "0x80", NULL});
        break;
      }
      case 7: { // timestamps to nowhere
        ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
        pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
        pool_desc.count = 1;
        ze_event_pool_handle_t pool;
        OK(zeEventPoolCreate(client.context, &pool_desc, 1, &client.device, &pool));
        ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
        ze_event_handle_t event;
        OK(zeEventCreate(pool, &desc, &event));
        OK(zeEventHostSignal(event));
        OK(zeCommandListAppendQueryKernelTimestamps(client.list, 1, &event, (void *)192, NULL, NULL, 0, NULL));
        expect_lost(&client, (const char *[]){"timestamps of events", "0xc0", NULL});
        OK(zeEventDestroy(event));
        OK(zeEventPoolDestroy(pool));
        break;
      }
      case 8:   // the text names the nearest: memory of the program, between inaccessible pages
      case 9: {
        size_t page = 4096;
        char *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0);
        ze_external_memmap_sysmem_ext_desc_t own = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC};
        own.pSystemMemory = pages + page, own.size = page;
        ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &own};
        void *adopted = NULL;
        OK(zeMemAllocHost(client.context, &desc, page, page, &adopted));
        const char *near = fault == 8 ? "8 bytes after the end of the host allocation of 4096 bytes"
                                      : "16 bytes before the host allocation of 4096 bytes";
        launch(&client, kernel, (uint64_t)(uintptr_t)(fault == 8 ? pages + 2 * page + 8 : pages + page - 16), 1);
        snprintf(address, sizeof address, "at %#" PRIx64, (uint64_t)(uintptr_t)adopted);
        expect_lost(&client, (const char *[]){"\"write_to\"", "work-item [0, 0, 0]", near, address, NULL});
        OK(zeMemFree(client.context, adopted));
        CHECK(munmap(pages, 3 * page) == 0);
        break;
      }
      default: // never ends; seldom, because each takes its time
        if (round % SELDOM == 0) {
          volatile uint32_t *flag = client_spin(&client);
          expect_lost(&client, (const char *[]){"\"spin\"", "work-item [0, 0, 0]", "SOLUM_KERNEL_TIMEOUT_MS", NULL});
          OK(zeMemFree(client.context, (void *)flag));
        }
      }
      OK(zeKernelDestroy(kernel));
      close_client(&client, memory);
    }
    client_add(&other, 1000);
  }
  struct weight now = weigh();
  int same = now.descriptors < settled.descriptors + FEW && now.threads < settled.threads + FEW &&
             now.mappings < settled.mappings + 8 && now.kilobytes < settled.kilobytes + 4096;
  puts(same ? "ok" : "something leaked");
  if (!same)
    printf("%d %d %ld %ld\n%d %d %ld %ld\n", settled.descriptors, settled.threads, settled.mappings, settled.kilobytes,
           now.descriptors, now.threads, now.mappings, now.kilobytes);
  return 0;
}
