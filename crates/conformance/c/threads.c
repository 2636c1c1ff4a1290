// Eight threads, each initialising, building and launching on its own.
#include "client.h"
#include <pthread.h>

static const char *spirv;

static void *one(void *unused) {
  (void)unused;
  for (int round = 0; round < 4; ++round) {
    struct client client;
    client_open(&client, spirv);
    for (int i = 0; i < 8; ++i) client_add(&client, 1000 + 17 * (uint32_t)i);
    OK(zeModuleDestroy(client.module));
    OK(zeCommandListDestroy(client.list));
    OK(zeContextDestroy(client.context));
  }
  return NULL;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  spirv = argv[1];
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, one, NULL) == 0);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  puts("ok");
  return 0;
}
