// dlopen, use, dlclose, and all of it again, with work still running the second time.
#include "client.h"
#include <dlfcn.h>

typedef ze_result_t (*init_drivers_t)(uint32_t *, ze_driver_handle_t *, ze_init_driver_type_desc_t *);
typedef ze_result_t (*device_get_t)(ze_driver_handle_t, uint32_t *, ze_device_handle_t *);

int main(int argc, char **argv) {
  (void)argv;
  CHECK(argc == 2);
  for (int round = 0; round < 3; ++round) {
    void *library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    init_drivers_t init_drivers = (init_drivers_t)dlsym(library, "zeInitDrivers");
    device_get_t device_get = (device_get_t)dlsym(library, "zeDeviceGet");
    CHECK(init_drivers && device_get);
    ze_init_driver_type_desc_t types = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC};
    types.flags = UINT32_MAX;
    ze_driver_handle_t driver;
    uint32_t count = 1;
    OK(init_drivers(&count, &driver, &types));
    CHECK(count == 1);
    count = 0;
    OK(device_get(driver, &count, NULL));
    CHECK(count >= 1);
    CHECK(dlclose(library) == 0);
  }
  puts("ok");
  return 0;
}
