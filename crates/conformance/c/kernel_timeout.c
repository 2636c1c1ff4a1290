// With SOLUM_KERNEL_TIMEOUT_MS: kernels that loop for ever lose their contexts, again and again, many at once; others go
// on. The limit is of time, not of work: it must be long enough that a kernel which ends is never late on a busy machine.
#include "client.h"

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client other;
  client_open(&other, argv[1]);
  for (int round = 0; round < 6; ++round) {
    struct client client;
    client_open(&client, argv[1]);
    client_add(&client, 1000);
    client_spin(&client);
    if (round % 2) client_spin(&client);
    CHECK(zeCommandListHostSynchronize(client.list, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
    const char *text = NULL;
    OK(zeDriverGetLastErrorDescription(client.driver, &text));
    CHECK(text && strstr(text, "spin") && strstr(text, "SOLUM_KERNEL_TIMEOUT_MS"));
    CHECK(zeContextGetStatus(client.context) == ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeCommandListDestroy(client.list));
    OK(zeModuleDestroy(client.module));
    OK(zeContextDestroy(client.context));
    client_add(&other, 1000);
  }
  puts("ok");
  return 0;
}
