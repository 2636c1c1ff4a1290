// The driver's own tracers: order, several of them, changed arguments and results, switching from callbacks, what is
// refused, threads. Uses what loaders of version 1.0 have.
#include <pthread.h>
#include <stdatomic.h>

#include <level_zero/zet_api.h>

#include "client.h"

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

// The log of callbacks: upper case for prologues, lower case for epilogues.
static char seen[256];

static void note(char what) {
  size_t length = strlen(seen);
  CHECK(length + 1 < sizeof seen);
  seen[length] = what, seen[length + 1] = 0;
}

static int saw(const char *what) {
  int same = !strcmp(seen, what);
  if (!same) fprintf(stderr, "seen: %s, expected: %s\n", seen, what);
  seen[0] = 0;
  return same;
}

struct watch {
  char name;
  zet_tracer_exp_handle_t tracer;
  void (*inside)(struct watch *);  // called by the prologue
  size_t size;                     // not 0: replaces the requested size of an allocation
  ze_result_t result;              // the epilogue's
};

static void before(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user, void **cell) {
  struct watch *watch = user;
  CHECK(result == ZE_RESULT_SUCCESS && *cell == NULL);
  *cell = watch;
  note(watch->name);
  if (watch->size) *params->psize = watch->size;
  if (watch->inside) watch->inside(watch);
}

static void after(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user, void **cell) {
  struct watch *watch = user;
  CHECK(*cell == watch && *params->phContext == context);
  watch->result = result;
  note((char)(watch->name + 'a' - 'A'));
}

static void without_a_handle(ze_context_get_status_params_t *params, ze_result_t result, void *user, void **cell) {
  (void)result, (void)user, (void)cell;
  *params->phContext = NULL;
}

static void renamed(ze_device_get_properties_params_t *params, ze_result_t result, void *user, void **cell) {
  (void)user, (void)cell;
  CHECK(result == ZE_RESULT_SUCCESS);
  strcpy((*params->ppDeviceProperties)->name, "renamed");
}

static zet_tracer_exp_handle_t made(void *user) {
  zet_tracer_exp_desc_t desc = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC};
  desc.pUserData = user;
  zet_tracer_exp_handle_t tracer;
  OK(zetTracerExpCreate(context, &desc, &tracer));
  return tracer;
}

static void watch_allocations(struct watch *watch) {
  zet_core_callbacks_t callbacks = {0};
  watch->tracer = made(watch);
  callbacks.Mem.pfnAllocHostCb = before;
  OK(zetTracerExpSetPrologues(watch->tracer, &callbacks));
  callbacks.Mem.pfnAllocHostCb = after;
  OK(zetTracerExpSetEpilogues(watch->tracer, &callbacks));
}

static void *allocated(size_t size) {
  ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *pointer = NULL;
  OK(zeMemAllocHost(context, &desc, size, 64, &pointer));
  return pointer;
}

static void allocate(void) { OK(zeMemFree(context, allocated(64))); }

static void end(struct watch *watch) {
  OK(zetTracerExpSetEnabled(watch->tracer, 0));
  OK(zetTracerExpDestroy(watch->tracer));
}

// --- order, and rejected calls -------------------------------------------------------------------------------------

static void order(void) {
  struct watch a = {'A'}, b = {'B'};
  watch_allocations(&a), watch_allocations(&b);
  allocate();
  CHECK(saw(""));
  // The order is that of enabling, on both sides.
  OK(zetTracerExpSetEnabled(b.tracer, 1));
  OK(zetTracerExpSetEnabled(a.tracer, 1));
  OK(zetTracerExpSetEnabled(a.tracer, 1));
  allocate();
  CHECK(saw("BAba"));
  OK(zeContextGetStatus(context));
  CHECK(saw(""));

  zet_core_callbacks_t none = {0};
  CHECK(zetTracerExpSetPrologues(a.tracer, &none) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(zetTracerExpSetEpilogues(a.tracer, &none) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(zetTracerExpDestroy(a.tracer) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  allocate();
  CHECK(saw("BAba"));

  OK(zetTracerExpSetEnabled(b.tracer, 0));
  allocate();
  CHECK(saw("Aa"));
  OK(zetTracerExpSetEnabled(a.tracer, 0));
  OK(zetTracerExpSetEpilogues(a.tracer, &none));
  OK(zetTracerExpSetEnabled(a.tracer, 1));
  allocate();
  CHECK(saw("A"));
  end(&a), end(&b);
  allocate();
  CHECK(saw(""));

  zet_tracer_exp_handle_t tracer;
  zet_tracer_exp_desc_t desc = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC};
  CHECK(zetTracerExpCreate(NULL, &desc, &tracer) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(zetTracerExpCreate(context, NULL, &tracer) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(zetTracerExpCreate(context, &desc, NULL) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(zetTracerExpSetEnabled(NULL, 1) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  CHECK(zetTracerExpDestroy(NULL) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  tracer = made(NULL);
  CHECK(zetTracerExpSetPrologues(tracer, NULL) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  OK(zetTracerExpDestroy(tracer));
}

// --- arguments and results ------------------------------------------------------------------------------------------

static size_t size_of(const void *pointer) {
  void *base;
  size_t size;
  OK(zeMemGetAddressRange(context, pointer, &base, &size));
  CHECK(base == pointer);
  return size;
}

static void changes(void) {
  struct watch a = {'A'}, b = {'B'};
  watch_allocations(&a), watch_allocations(&b);
  OK(zetTracerExpSetEnabled(a.tracer, 1));
  OK(zetTracerExpSetEnabled(b.tracer, 1));
  void *plain = allocated(64);
  a.size = 1 << 20;
  void *larger = allocated(64);
  CHECK(size_of(larger) >= 1 << 20 && size_of(plain) < 1 << 20);
  // The last word is the last prologue's.
  a.size = SIZE_MAX / 2, b.size = 64;
  OK(zeMemFree(context, allocated(64)));
  a.size = 0, b.size = SIZE_MAX / 2;
  ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *none = NULL;
  ze_result_t refused = zeMemAllocHost(context, &desc, 64, 64, &none);
  CHECK(refused != ZE_RESULT_SUCCESS && a.result == refused && b.result == refused);
  CHECK(saw("ABabABabABabABab"));
  OK(zeMemFree(context, plain));
  OK(zeMemFree(context, larger));
  end(&a), end(&b);

  zet_core_callbacks_t callbacks = {0};
  zet_tracer_exp_handle_t tracer = made(NULL);
  callbacks.Context.pfnGetStatusCb = without_a_handle;
  OK(zetTracerExpSetPrologues(tracer, &callbacks));
  callbacks = (zet_core_callbacks_t){0};
  callbacks.Device.pfnGetPropertiesCb = renamed;
  OK(zetTracerExpSetEpilogues(tracer, &callbacks));
  OK(zetTracerExpSetEnabled(tracer, 1));
  CHECK(zeContextGetStatus(context) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  OK(zeDeviceGetProperties(device, &properties));
  CHECK(!strcmp(properties.name, "renamed"));
  OK(zetTracerExpSetEnabled(tracer, 0));
  OK(zeContextGetStatus(context));
  OK(zeDeviceGetProperties(device, &properties));
  CHECK(strcmp(properties.name, "renamed"));
  OK(zetTracerExpDestroy(tracer));
}

// --- from callbacks -------------------------------------------------------------------------------------------------

static struct watch other = {'O'};

static void enable_other(struct watch *watch) {
  (void)watch;
  OK(zetTracerExpSetEnabled(other.tracer, 1));
}

static void disable_itself(struct watch *watch) {
  OK(zetTracerExpSetEnabled(watch->tracer, 0));
  CHECK(zetTracerExpDestroy(watch->tracer) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
}

static void call(struct watch *watch) {
  (void)watch;
  allocate();
}

static void callbacks_that_call(void) {
  struct watch a = {'A'};
  watch_allocations(&a), watch_allocations(&other);
  OK(zetTracerExpSetEnabled(a.tracer, 1));
  a.inside = call;
  allocate();
  CHECK(saw("Aa"));
  // From the next call on.
  a.inside = enable_other;
  allocate();
  CHECK(saw("Aa"));
  a.inside = NULL;
  allocate();
  CHECK(saw("AOao"));
  // The epilogue of a call that has begun comes still.
  a.inside = disable_itself;
  allocate();
  CHECK(saw("AOao"));
  allocate();
  CHECK(saw("Oo"));
  end(&a), end(&other);
}

// --- threads --------------------------------------------------------------------------------------------------------

static atomic_int running, balance, begun;
static atomic_bool stop;

static void up(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user, void **cell) {
  (void)params, (void)result, (void)user;
  *cell = cell;
  atomic_fetch_add(&balance, 1), atomic_fetch_add(&begun, 1);
}

static void down(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user, void **cell) {
  (void)params, (void)user;
  CHECK(result == ZE_RESULT_SUCCESS && *cell == cell);
  atomic_fetch_sub(&balance, 1);
}

static void *work(void *unused) {
  (void)unused;
  atomic_fetch_add(&running, 1);
  while (!atomic_load(&stop)) allocate();
  return NULL;
}

static void threads(void) {
  enum { THREADS = 4, ROUNDS = 100 };
  pthread_t workers[THREADS];
  zet_core_callbacks_t callbacks = {0};
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&workers[i], NULL, work, NULL) == 0);
  while (atomic_load(&running) < THREADS) sched_yield();
  for (int round = 0; round < ROUNDS; ++round) {
    zet_tracer_exp_handle_t tracer = made(NULL);
    callbacks.Mem.pfnAllocHostCb = up;
    OK(zetTracerExpSetPrologues(tracer, &callbacks));
    callbacks.Mem.pfnAllocHostCb = down;
    OK(zetTracerExpSetEpilogues(tracer, &callbacks));
    int before_it = atomic_load(&begun);
    OK(zetTracerExpSetEnabled(tracer, 1));
    // A call of one of the threads comes, however long it takes.
    while (atomic_load(&begun) == before_it) sched_yield();
    OK(zetTracerExpSetEnabled(tracer, 0));
    OK(zetTracerExpDestroy(tracer));
    // No callback of a tracer runs once it is destroyed.
    CHECK(atomic_load(&balance) == 0);
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(workers[i], NULL) == 0);
}

int main(void) {
  uint32_t one = 1;
  OK(zeInit(0));
  OK(zeDriverGet(&one, &driver));
  OK(zeDeviceGet(driver, &one, &device));
  ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  OK(zeContextCreate(driver, &desc, &context));
  order();
  changes();
  callbacks_that_call();
  threads();
  OK(zeContextDestroy(context));
  puts("ok");
  return 0;
}
