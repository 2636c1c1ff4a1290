// One process works, another watches it through system management alone; then a reset ends the work.
#include <sys/wait.h>
#include <unistd.h>

#include <level_zero/zes_api.h>

#include "client.h"

static zes_device_handle_t sysman_device(zes_driver_handle_t *driver) {
  OK(zesInit(0));
  uint32_t count = 1;
  OK(zesDriverGet(&count, driver));
  CHECK(count == 1);
  zes_device_handle_t device;
  OK(zesDeviceGet(*driver, &count, &device));
  return device;
}

static zes_engine_handle_t engine(zes_device_handle_t device, zes_engine_group_t type) {
  zes_engine_handle_t engines[1024];
  uint32_t count = 1024;
  OK(zesDeviceEnumEngineGroups(device, &count, engines));
  for (uint32_t i = 0; i < count; ++i) {
    zes_engine_properties_t properties = {ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES};
    OK(zesEngineGetProperties(engines[i], &properties));
    if (properties.type == type) return engines[i];
  }
  CHECK(!"the group is there");
  return NULL;
}

static uint64_t active(zes_engine_handle_t engine) {
  zes_engine_stats_t stats;
  OK(zesEngineGetActivity(engine, &stats));
  CHECK(stats.timestamp > 0);
  return stats.activeTime;
}

static int uses(zes_device_handle_t device, pid_t pid, zes_process_state_t *out) {
  zes_process_state_t states[1024] = {{ZES_STRUCTURE_TYPE_PROCESS_STATE}};
  uint32_t count = 1024;
  OK(zesDeviceProcessesGetState(device, &count, states));
  for (uint32_t i = 0; i < count; ++i)
    if (states[i].processId == (uint32_t)pid) {
      *out = states[i];
      return 1;
    }
  return 0;
}

// Never initialises core.
static void watch(pid_t worker, int from, int to) {
  char byte;
  CHECK(read(from, &byte, 1) == 1);
  zes_driver_handle_t driver;
  zes_device_handle_t device = sysman_device(&driver);
  zes_process_state_t state;
  CHECK(uses(device, worker, &state));
  CHECK(state.engines == ZES_ENGINE_TYPE_FLAG_COMPUTE);
  CHECK(state.memSize >= 1 << 20 && state.sharedSize >= 4096);
  CHECK(uses(device, getpid(), &state) && state.memSize == 0);
  zes_engine_handle_t compute = engine(device, ZES_ENGINE_GROUP_COMPUTE_ALL);
  uint64_t before = active(compute);
  // The kernel runs for as long as it takes the counter to move by a hundredth of a second.
  while (active(compute) < before + 10000) usleep(1000);
  CHECK(write(to, "x", 1) == 1);
  CHECK(read(from, &byte, 1) == 1);
  CHECK(!uses(device, worker, &state) || !(state.memSize >= 1 << 20));
  _exit(0);
}

static void look_at_all(zes_device_handle_t device) {
  uint32_t count = 0;
  zes_mem_handle_t memory;
  OK(zesDeviceEnumMemoryModules(device, &count, NULL));
  CHECK(count >= 1);
  count = 1;
  OK(zesDeviceEnumMemoryModules(device, &count, &memory));
  zes_mem_state_t state = {ZES_STRUCTURE_TYPE_MEM_STATE};
  OK(zesMemoryGetState(memory, &state));
  CHECK(state.free > 0 && state.free <= state.size);
  zes_mem_bandwidth_t bandwidth;
  CHECK(zesMemoryGetBandwidth(memory, &bandwidth) == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  zes_device_properties_t properties = {ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  zes_device_ext_properties_t ext = {ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES};
  properties.pNext = &ext;
  OK(zesDeviceGetProperties(device, &properties));
  CHECK(!memcmp(ext.uuid.id, properties.core.uuid.id, 16) && properties.modelName[0]);
  ze_bool_t on_sub = 1, ecc = 1;
  uint32_t sub = 9;
  zes_device_handle_t found = NULL;
  zes_driver_handle_t driver;
  OK(zesDriverGet(&count, &driver));
  OK(zesDriverGetDeviceByUuidExp(driver, ext.uuid, &found, &on_sub, &sub));
  CHECK(found == device && !on_sub);
  ext.uuid.id[3] ^= 1;
  CHECK(zesDriverGetDeviceByUuidExp(driver, ext.uuid, &found, &on_sub, &sub) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  // Parts that a processor does not have are enumerated as none.
  count = 77;
  OK(zesDeviceEnumFans(device, &count, NULL));
  CHECK(count == 0);
  count = 77;
  OK(zesDeviceEnumSchedulers(device, &count, NULL));
  CHECK(count == 0);
  OK(zesDeviceEccConfigurable(device, &ecc));
  CHECK(!ecc);
  CHECK(zesDeviceEventRegister(device, 1u << 20) == ZE_RESULT_ERROR_INVALID_ENUMERATION);
  CHECK(zesDeviceGetState(device, NULL) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  CHECK(zesDeviceGetState(NULL, NULL) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  int there[2], back[2];
  CHECK(!pipe(there) && !pipe(back));
  pid_t worker = getpid(), child = fork();
  CHECK(child >= 0);
  if (child == 0) watch(worker, there[0], back[1]);

  struct client busy, idle;
  client_open(&busy, argv[1]);
  client_open(&idle, argv[1]);
  client_add(&idle, 1000);
  ze_device_mem_alloc_desc_t memory_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  void *memory;
  OK(zeMemAllocDevice(busy.context, &memory_desc, 1 << 20, 64, busy.device, &memory));
  client_spin(&busy);
  CHECK(write(there[1], "x", 1) == 1);
  char byte;
  CHECK(read(back[0], &byte, 1) == 1);

  zes_driver_handle_t driver;
  zes_device_handle_t device = sysman_device(&driver);
  CHECK(device == busy.device);
  look_at_all(device);
  zes_event_type_flags_t events = 0;
  uint32_t number = 9;
  OK(zesDriverEventListen(driver, 1000, 1, &device, &number, &events));
  CHECK(number == 0);  // nothing is registered
  OK(zesDeviceEventRegister(device, ZES_EVENT_TYPE_FLAG_DEVICE_DETACH | ZES_EVENT_TYPE_FLAG_DEVICE_ATTACH));
  OK(zesDriverEventListenEx(driver, 1, 1, &device, &number, &events));
  CHECK(number == 0);

  CHECK(zesDeviceReset(device, 0) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  OK(zeContextGetStatus(busy.context));
  // One runs, one waits for it.
  ze_kernel_handle_t spin = client_kernel(&busy, "empty");
  ze_group_count_t one = {1, 1, 1};
  OK(zeCommandListAppendBarrier(busy.list, NULL, 0, NULL));
  OK(zeCommandListAppendLaunchKernel(busy.list, spin, &one, NULL, 0, NULL));
  OK(zesDeviceReset(device, 1));
  CHECK(zeCommandListHostSynchronize(busy.list, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(busy.driver, &text));
  CHECK(text && strstr(text, "reset"));
  OK(zesDriverEventListen(driver, UINT32_MAX, 1, &device, &number, &events));
  CHECK(number == 1 && events == (ZES_EVENT_TYPE_FLAG_DEVICE_DETACH | ZES_EVENT_TYPE_FLAG_DEVICE_ATTACH));
  OK(zesDriverEventListen(driver, 1, 1, &device, &number, &events));
  CHECK(number == 0);

  client_add(&idle, 1000);
  struct client fresh;
  client_open(&fresh, argv[1]);
  client_add(&fresh, 1000);
  zes_reset_properties_t properties = {ZES_STRUCTURE_TYPE_RESET_PROPERTIES};
  OK(zesDeviceResetExt(device, &properties));  // nothing runs any more
  client_add(&fresh, 1000);
  OK(zeMemFree(busy.context, memory));
  CHECK(write(there[1], "x", 1) == 1);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  puts("ok");
  return 0;
}
