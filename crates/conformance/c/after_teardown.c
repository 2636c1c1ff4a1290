// After the loader's teardown has begun every call returns UNINITIALIZED, also in late exit handlers.
#include "client.h"
#include <level_zero/loader/ze_loader.h>

static struct client client;
static int callbacks;

static void torn_down(void) { ++callbacks; }

static void late(void) {
  uint32_t count = 0;
  ze_result_t result = zeDeviceGet(client.driver, &count, NULL);
  // Registered before the loader was used, so this runs after everything of its.
  if (result != ZE_RESULT_ERROR_UNINITIALIZED || callbacks != 1) {
    fprintf(stderr, "late: %#x, %d callbacks\n", result, callbacks);
    _Exit(1);
  }
  puts("ok");
  fflush(stdout);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  atexit(late);
  client_open(&client, argv[1]);
  client_add(&client, 1000);
  zel_application_teardown_callback_t unregister = NULL;
  uint32_t index = 0;
  OK(zelRegisterTeardownCallback(torn_down, &unregister, &index));
  CHECK(index >= 1 && !zelCheckIsLoaderInTearDown());
  OK(zelSetDriverTeardown());
  CHECK(callbacks == 1 && zelCheckIsLoaderInTearDown());
  CHECK(zeContextDestroy(client.context) == ZE_RESULT_ERROR_UNINITIALIZED);
  return 0;
}
