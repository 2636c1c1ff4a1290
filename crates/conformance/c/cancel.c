// Threads that make calls in a loop are cancelled at random moments. A cancellation stays pending while a call runs and
// acts at the program's own next cancellation point.
// Usage: cancel SPIRV CANCELS SEED. With 0 cancels each kind of work is done once, which is for CLIENT_CANCELLED.
// To soak: repeat with other seeds, each time with a new and empty SOLUM_CACHE_DIR.
#include "client.h"

#include <time.h>
#include <unistd.h>

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/loader/ze_loader.h>
#include <level_zero/zes_api.h>

#define THREADS 3

static struct client client;
static unsigned char words[1 << 16];
static size_t size;
static zes_device_handle_t sysman;
static _Atomic uint32_t variant;

struct state {
  uint64_t random;
  volatile int inside; // the thread is between a call's beginning and its end
  const char *volatile call;
};

static uint32_t draw(uint64_t *random, uint32_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*random >> 33) % below;
}

// Cleanup handlers run when the thread is unwound.
static void ended(void *argument) {
  struct state *state = argument;
  if (state->inside) {
    fprintf(stderr, "a thread was cancelled inside %s\n", state->call);
    _Exit(1);
  }
}

#define CALL(what)            \
  do {                        \
    state->call = #what;      \
    state->inside = 1;        \
    OK(what);                 \
    state->inside = 0;        \
  } while (0)

// A module whose words were never seen before, or one that every thread uses, in memory or on disk.
static void build(struct state *state, int fresh) {
  unsigned char copy[sizeof words];
  memcpy(copy, words, size);
  // The third word of a module names its generator and means nothing.
  uint32_t generator = fresh ? ++variant | 0x40000000u : draw(&state->random, 4);
  memcpy(copy + 8, &generator, sizeof generator);
  ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = size;
  desc.pInputModule = copy;
  struct client own = client;
  CALL(zeModuleCreate(client.context, client.device, &desc, &own.module, NULL));
  ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC};
  kernel_desc.pKernelName = "empty";
  ze_kernel_handle_t kernel;
  CALL(zeKernelCreate(own.module, &kernel_desc, &kernel));
  CALL(zeKernelSetGroupSize(kernel, 1, 1, 1));
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list;
  CALL(zeCommandListCreateImmediate(client.context, client.device, &queue_desc, &list));
  ze_group_count_t groups = {1 + draw(&state->random, 64), 1, 1};
  CALL(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
  CALL(zeCommandListHostSynchronize(list, UINT64_MAX));
  CALL(zeCommandListDestroy(list));
  CALL(zeKernelDestroy(kernel));
  CALL(zeModuleDestroy(own.module));
}

static void allocate(struct state *state) {
  ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  size_t bytes = (size_t)1 << draw(&state->random, 27);
  void *memory = NULL;
  CALL(zeMemAllocShared(client.context, &device, &host, bytes, 64, client.device, &memory));
  ze_ipc_mem_handle_t handle;
  CALL(zeMemGetIpcHandle(client.context, memory, &handle));
  CALL(zeMemPutIpcHandle(client.context, handle));
  CALL(zeMemFree(client.context, memory));
}

static void wait_for_event(struct state *state) {
  ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | (draw(&state->random, 2) ? ZE_EVENT_POOL_FLAG_IPC : 0);
  pool_desc.count = 1;
  ze_event_pool_handle_t pool;
  CALL(zeEventPoolCreate(client.context, &pool_desc, 1, &client.device, &pool));
  ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
  ze_event_handle_t event;
  CALL(zeEventCreate(pool, &event_desc, &event));
  state->call = "zeEventHostSynchronize";
  state->inside = 1;
  CHECK(zeEventHostSynchronize(event, draw(&state->random, 200000)) == ZE_RESULT_NOT_READY);
  state->inside = 0;
  CALL(zeEventHostSignal(event));
  CALL(zeEventHostSynchronize(event, UINT64_MAX));
  CALL(zeEventDestroy(event));
  CALL(zeEventPoolDestroy(pool));
}

static void lists(struct state *state) {
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_queue_handle_t queue;
  CALL(zeCommandQueueCreate(client.context, client.device, &queue_desc, &queue));
  ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_command_list_handle_t list;
  CALL(zeCommandListCreate(client.context, client.device, &list_desc, &list));
  CALL(zeCommandListAppendBarrier(list, NULL, 0, NULL));
  CALL(zeCommandListClose(list));
  CALL(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
  CALL(zeCommandQueueSynchronize(queue, UINT64_MAX));
  CALL(zeCommandListDestroy(list));
  CALL(zeCommandQueueDestroy(queue));
}

static void look(struct state *state) {
  ze_init_driver_type_desc_t types = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC};
  types.flags = UINT32_MAX;
  ze_driver_handle_t driver;
  uint32_t count = 1;
  CALL(zeInitDrivers(&count, &driver, &types));
  ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  CALL(zeDeviceGetProperties(client.device, &properties));
  zes_device_state_t device_state = {ZES_STRUCTURE_TYPE_DEVICE_STATE};
  CALL(zesDeviceGetState(sysman, &device_state));
  zes_process_state_t states[64];
  count = 64;
  CALL(zesDeviceProcessesGetState(sysman, &count, states));
  zes_mem_handle_t memories[8];
  count = 8;
  CALL(zesDeviceEnumMemoryModules(sysman, &count, memories));
  zes_mem_state_t memory = {ZES_STRUCTURE_TYPE_MEM_STATE};
  if (count) CALL(zesMemoryGetState(memories[0], &memory));
}

// The program's own code inside a call: a cancellation point.
static void pause_shortly(void) {
  struct timespec pause = {0, 1000};
  nanosleep(&pause, NULL);
}

static void host_function(void *done) {
  pause_shortly();
  *(_Atomic int *)done = 1;
}

// The function runs on a thread of the driver, whichever thread waits for it.
static void call_host(struct state *state) {
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_list_handle_t list;
  CALL(zeCommandListCreateImmediate(client.context, client.device, &queue_desc, &list));
  _Atomic int done = 0;
  CALL(zeCommandListAppendHostFunction(list, host_function, &done, NULL, NULL, 0, NULL));
  CALL(zeCommandListHostSynchronize(list, UINT64_MAX));
  CHECK(done);
  CALL(zeCommandListDestroy(list));
}

// Callbacks are the program's own code, where a cancellation acts.
static __thread struct state *own;

static void callback(ze_context_get_status_params_t *params, ze_result_t result, void *user, void **instance) {
  (void)params, (void)result, (void)user, (void)instance;
  if (!own || getenv("CLIENT_CANCELLED")) return;
  own->inside = 0;
  pause_shortly();
  own->inside = 1;
}

static zel_tracer_handle_t tracer;

static void begin_tracing(void) {
  zel_tracer_desc_t desc = {ZEL_STRUCTURE_TYPE_TRACER_DESC};
  OK(zelEnableTracingLayer());
  OK(zelTracerCreate(&desc, &tracer));
  OK(zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, callback));
  OK(zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, callback));
  OK(zelTracerSetEnabled(tracer, 1));
}

static void be_traced(struct state *state) {
  own = state;
  CALL(zeContextGetStatus(client.context));
}

// Waits for calls under way: a cancelled one is none.
static void end_tracing(void) {
  OK(zelTracerSetEnabled(tracer, 0));
  OK(zelTracerDestroy(tracer));
  OK(zelDisableTracingLayer());
}

#define KINDS 8

static void one(struct state *state, uint32_t kind) {
  switch (kind) {
    case 0: build(state, 1); break;
    case 1: build(state, 0); break;
    case 2: allocate(state); break;
    case 3: wait_for_event(state); break;
    case 4: lists(state); break;
    case 5: call_host(state); break;
    case 6: be_traced(state); break;
    default: look(state); break;
  }
}

static void *work(void *argument) {
  struct state *state = argument;
  pthread_cleanup_push(ended, state);
  for (;;) {
    one(state, draw(&state->random, KINDS));
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return NULL;
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  uint32_t cancels = (uint32_t)strtoul(argv[2], NULL, 10);
  uint64_t random = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
  client_open(&client, argv[1]);
  FILE *file = fopen(argv[1], "rb");
  CHECK(file);
  size = fread(words, 1, sizeof words, file);
  fclose(file);
  zes_driver_handle_t driver;
  uint32_t count = 1;
  OK(zesInit(0));
  OK(zesDriverGet(&count, &driver));
  OK(zesDeviceGet(driver, &count, &sysman));

  begin_tracing();
  pthread_t threads[THREADS];
  static struct state states[THREADS];
  for (uint32_t kind = 0; !cancels && kind < KINDS; ++kind) one(&states[0], kind);
  for (uint32_t i = 0; cancels && i < cancels + THREADS; ++i) {
    uint32_t at = i % THREADS;
    if (i >= THREADS) {
      struct timespec pause = {0, 1000 + draw(&random, 3000000)};
      nanosleep(&pause, NULL);
      CHECK(pthread_cancel(threads[at]) == 0);
      void *result;
      CHECK(pthread_join(threads[at], &result) == 0);
      CHECK(result == PTHREAD_CANCELED);
    }
    if (i < cancels) {
      states[at] = (struct state){.random = random ^ (uint64_t)i << 32};
      CHECK(pthread_create(&threads[at], NULL, work, &states[at]) == 0);
    }
  }
  end_tracing();
  // Objects of the cancelled threads still work.
  client_add(&client, 1000);
  puts("ok");
  return 0;
}
