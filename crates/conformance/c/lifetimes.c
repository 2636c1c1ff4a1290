// What a program does with its memory and objects, by the word of its second argument: for `solum check`.
#include "client.h"
#include <string.h>
#include <sys/wait.h>

static struct client client;
static void *memory;

static void *device_memory(size_t size) {
  ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  void *made = NULL;
  OK(zeMemAllocDevice(client.context, &desc, size, 0, client.device, &made));
  return made;
}

static void free_late(void) { OK(zeMemFree(client.context, memory)); }

static int has_destructor;

__attribute__((destructor)) static void free_last(void) {
  if (has_destructor)
    free_late();
}

static void *end(void *unused) {
  exit(0);
  return unused;
}

static ze_context_handle_t context(void) {
  ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  ze_context_handle_t made = NULL;
  OK(zeContextCreate(client.driver, &desc, &made));
  return made;
}

static void destroyed_event(void) {
  ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                    .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                    .count = 1};
  ze_event_pool_handle_t pool = NULL;
  OK(zeEventPoolCreate(client.context, &pool_desc, 0, NULL, &pool));
  ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
  ze_event_handle_t event = NULL;
  OK(zeEventCreate(pool, &desc, &event));
  OK(zeEventDestroy(event));
  CHECK(zeEventQueryStatus(event) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeEventPoolDestroy(pool));
}

static void busy_list(int waits) {
  ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                  .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
  ze_command_list_handle_t list = NULL;
  OK(zeCommandListCreateImmediate(client.context, client.device, &desc, &list));
  uint8_t zero = 0;
  OK(zeCommandListAppendMemoryFill(list, memory, &zero, 1, 4096, NULL, 0, NULL));
  if (waits)
    OK(zeCommandListHostSynchronize(list, UINT64_MAX));
  OK(zeCommandListDestroy(list));
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  const char *word = argv[2];
  client_open(&client, argv[1]);
  memory = device_memory(4096);
  if (!strcmp(word, "atexit")) {
    atexit(free_late);
    return 0;
  }
  if (!strcmp(word, "destructor")) {
    has_destructor = 1;
    return 0;
  }
  if (!strcmp(word, "global"))
    return 0;
  if (!strcmp(word, "exit"))
    exit(0);
  if (!strcmp(word, "_exit"))
    _exit(0);
  if (!strcmp(word, "thread")) {
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, end, NULL));
    pthread_join(thread, NULL);
  }
  if (!strcmp(word, "fork")) {
    pid_t child = fork();
    if (child == 0)
      return 0;
    CHECK(waitpid(child, NULL, 0) == child);
  }
  if (!strcmp(word, "leak")) {
    for (int n = 0; n < 3; n++)
      device_memory(64);
    device_memory(32);
  }
  if (!strcmp(word, "context")) {
    ze_context_handle_t other = context();
    OK(zeMemFree(other, memory));
    OK(zeContextDestroy(other));
    return 0;
  }
  if (!strcmp(word, "busy") || !strcmp(word, "idle"))
    busy_list(word[0] == 'i');
  if (!strcmp(word, "event"))
    destroyed_event();
  OK(zeMemFree(client.context, memory));
  if (!strcmp(word, "twice"))
    CHECK(zeMemFree(client.context, memory) != ZE_RESULT_SUCCESS);
  return 0;
}
