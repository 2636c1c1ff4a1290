// A program that notifies XPTI as a SYCL runtime would, and works through Level Zero: what solum trace joins.
//
// use: tasks KERNELS [crash | wait | many N]
//   (nothing)  an allocation that stays, the same contents copied twice, a kernel after them; each a task of its own line
//   crash      the same, then a segmentation fault inside a call that never ends
//   wait       the same, then "ready" and no end
//   many N     N notifications of calls besides; prints by how many KiB the process grew meanwhile
#include "client.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

enum { NODE_CREATE = 4, EDGE_CREATE = 6, TASK_BEGIN = 10, TASK_END = 11, CALL_BEGIN = 28, CALL_END = 29, ALLOC_BEGIN = 32, ALLOC_END = 33 };
enum { TEXT = 1, UNSIGNED = 3 };

// The first bytes of an event.
struct event {
  uint64_t unique_id, data_id, instance_id;
  uint16_t event_type, activity_type;
  uint32_t unused;
  uint64_t source_id, target_id;
};
struct call {
  uint32_t id;
  const char *name;
  void *arguments, *result, *user;
};

static struct {
  int32_t (*initialize)(const char *, uint32_t, uint32_t, const char *);
  uint8_t (*stream)(const char *);
  uint64_t (*unique)(void);
  void *(*create)(const char *, const char *, uint32_t, uint32_t, void *);
  int32_t (*destroy)(void *);
  int32_t (*scope)(void *);
  void (*unscope)(void);
  int32_t (*notify)(uint8_t, uint16_t, void *, void *, uint64_t, const void *);
  int32_t (*object)(const char *, size_t, uint8_t);
  int32_t (*metadata)(void *, const char *, int32_t);
} xpti;
static uint8_t sycl, ur, memory;

static void *symbol(const char *name) {
  static void *framework;
  const char *path = getenv("XPTI_FRAMEWORK_DISPATCHER");
  if (!framework) framework = dlopen(path ? path : "", RTLD_LAZY);
  CHECK(framework);
  void *found = dlsym(framework, name);
  CHECK(found);
  return found;
}

static void begin(void) {
  xpti.initialize = symbol("xptiInitialize");
  xpti.stream = symbol("xptiRegisterStream");
  xpti.unique = symbol("xptiGetUniqueId");
  xpti.create = symbol("xptiCreateTracepoint");
  xpti.destroy = symbol("xptiDeleteTracepoint");
  xpti.scope = symbol("xptiSetTracepointScopeData");
  xpti.unscope = symbol("xptiUnsetTracepointScopeData");
  xpti.notify = symbol("xptiNotifySubscribers");
  xpti.object = symbol("xptiRegisterObject");
  xpti.metadata = symbol("xptiAddMetadata");
  const char *streams[] = {"sycl", "ur.call", "sycl.experimental.mem_alloc"};
  uint8_t *ids[] = {&sycl, &ur, &memory};
  for (int i = 0; i < 3; ++i) {
    CHECK(xpti.initialize(streams[i], 1, 0, "1.0") == 0);
    *ids[i] = xpti.stream(streams[i]);
  }
}

static struct event *event_of(void *tracepoint) { return (*(struct event * (***)(void *)) tracepoint)[7](tracepoint); }

static void attach_text(struct event *event, const char *key, const char *text) {
  xpti.metadata(event, key, xpti.object(text, strlen(text), TEXT));
}
static void attach(struct event *event, const char *key, uint64_t value) {
  xpti.metadata(event, key, xpti.object((const char *)&value, sizeof value, UNSIGNED));
}

// A task from its begin to its end; the location is published meanwhile.
static struct event *task_begin(void **tracepoint, const char *kind, const char *function, uint32_t line, const char *kernel, uint64_t *instance) {
  *tracepoint = xpti.create(function, "tasks.cpp", line, 0, NULL);
  struct event *event = event_of(*tracepoint);
  if (kernel) attach_text(event, "kernel_name", kernel);
  xpti.scope(*tracepoint);
  *instance = xpti.unique();
  xpti.notify(sycl, NODE_CREATE, NULL, event, *instance, kind);
  xpti.notify(sycl, TASK_BEGIN, NULL, event, *instance, kind);
  return event;
}
static void task_end(struct event *event, uint64_t instance) {
  xpti.notify(sycl, TASK_END, NULL, event, instance, NULL);
  xpti.unscope();
}

static void tell_allocation(void *pointer, size_t bytes) {
  void *tracepoint = xpti.create("allocate", "tasks.cpp", 10, 0, NULL);
  struct event *event = event_of(tracepoint);
  attach(event, "memory_size", bytes);
  xpti.notify(memory, NODE_CREATE, NULL, event, 1, "usm::alignedAlloc");
  xpti.notify(memory, ALLOC_BEGIN, NULL, event, 2, "usm::alignedAlloc");
  attach(event, "memory_ptr", (uintptr_t)pointer);
  xpti.notify(memory, ALLOC_END, NULL, event, 2, "usm::alignedAlloc");
  xpti.destroy(tracepoint);
}

static void work(struct client *client) {
  enum { N = 4096 };
  static float host[N];
  for (int i = 0; i < N; ++i) host[i] = (float)i;
  float *a = client_shared(client, sizeof host), *c = client_shared(client, sizeof host);
  tell_allocation(a, sizeof host);
  void *copies[2], *launch;
  uint64_t number, last = 0;
  for (int i = 0; i < 2; ++i) {
    struct event *event = task_begin(&copies[i], "memory_transfer_node::memcpy", "fill", 20, NULL, &number);
    OK(zeCommandListAppendMemoryCopy(client->list, a, host, sizeof host, NULL, 0, NULL));
    task_end(event, number);
    last = event->unique_id;
  }
  struct event *event = task_begin(&launch, "command_group_node", "run", 42, "add", &number);
  void *edge = xpti.create("dependence", "tasks.cpp", 42, 1, NULL);
  event_of(edge)->source_id = last;
  event_of(edge)->target_id = event->unique_id;
  xpti.notify(sycl, EDGE_CREATE, NULL, event_of(edge), xpti.unique(), NULL);
  ze_kernel_handle_t kernel = client_kernel(client, "add");
  uint32_t n = N;
  OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof a, &a));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof a, &a));
  OK(zeKernelSetArgumentValue(kernel, 2, sizeof c, &c));
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {N / 64, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
  task_end(event, number);
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  for (int i = 0; i < N; ++i) CHECK(c[i] == 2.0f * (float)i);
  OK(zeKernelDestroy(kernel));
  OK(zeMemFree(client->context, c));
}

static void call(uint16_t kind, uint64_t number, int32_t *result) {
  static int arguments[8];
  struct call told = {1, "urEventWait", arguments, result, NULL};
  xpti.notify(ur, kind, NULL, NULL, number, &told);
}

static long resident(void) {
  long pages = 0, all = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld %ld", &all, &pages) == 2);
  fclose(file);
  return pages * 4;
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  const char *mode = argc > 2 ? argv[2] : "";
  begin();
  struct client client;
  client_open(&client, argv[1]);
  work(&client);
  if (!strcmp(mode, "crash")) {
    call(CALL_BEGIN, 1, NULL);
    raise(SIGSEGV);
  }
  if (!strcmp(mode, "wait")) {
    puts("ready");
    fflush(stdout);
    for (;;) pause();
  }
  if (!strcmp(mode, "many")) {
    CHECK(argc == 4);
    unsigned long count = strtoul(argv[3], NULL, 10);
    int32_t result = 0;
    long before = 0;
    for (unsigned long i = 0; i < count; i += 2) {
      if (i == count / 10) before = resident();
      call(CALL_BEGIN, i, NULL);
      call(CALL_END, i, &result);
    }
    printf("%ld\n", resident() - before);
  }
  puts("ok");
  return 0;
}
