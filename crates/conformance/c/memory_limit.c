// With SOLUM_MEMORY_LIMIT=64MiB: what goes beyond is refused by the right code, what fits is served, again and again.
#include "client.h"

enum { MIB = 1 << 20, LIMIT = 64 };

static ze_result_t take(struct client *client, size_t bytes, void **pointer) {
  ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  *pointer = NULL;
  return zeMemAllocDevice(client->context, &device, bytes, 64, client->device, pointer);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client client;
  client_open(&client, argv[1]);
  void *pointer, *all[LIMIT + 1];
  for (int round = 0; round < 20; ++round) {
    ze_result_t whole = take(&client, (size_t)(LIMIT + 1) * MIB, &pointer);
    CHECK(whole == ZE_RESULT_ERROR_UNSUPPORTED_SIZE || whole == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    int count = 0;
    ze_result_t code;
    while ((code = take(&client, MIB, &all[count])) == ZE_RESULT_SUCCESS) {
      memset(all[count], round, MIB);
      CHECK(++count <= LIMIT);
    }
    CHECK(code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY && count == LIMIT);
    const char *text = NULL;
    OK(zeDriverGetLastErrorDescription(client.driver, &text));
    CHECK(text && *text);
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    code = zeMemAllocHost(client.context, &host, 1, 1, &pointer);
    CHECK(code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY || code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    OK(zeMemFree(client.context, all[--count]));
    client_add(&client, 1000); // needs memory of its own, and gets it
    while (count) OK(zeMemFree(client.context, all[--count]));
  }
  puts("ok");
  return 0;
}
