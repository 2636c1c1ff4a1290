// With SOLUM_MEMORY_LIMIT=64MiB: larger requests fail with the right code, others succeed, repeatedly.
#include "client.h"

enum { MIB = 1 << 20, LIMIT = 64 };

static ze_result_t take(struct client *client, size_t bytes, void **pointer) {
  ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  *pointer = NULL;
  return zeMemAllocDevice(client->context, &device, bytes, 64, client->device, pointer);
}

// The last error says how much is used, and which variable sets the limit.
static void told(struct client *client, const char *figures) {
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(client->driver, &text));
  if (!strstr(text, figures) || !strstr(text, "SOLUM_MEMORY_LIMIT")) {
    fprintf(stderr, "no \"%s\" in: %s\n", figures, text);
    _Exit(1);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client client;
  client_open(&client, argv[1]);
  // Programs see the limit, and the machine's memory.
  uint32_t one = 1;
  ze_device_properties_t device = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  ze_device_memory_ext_properties_t ext = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES};
  ze_device_memory_properties_t memory = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, &ext};
  OK(zeDeviceGetProperties(client.device, &device));
  OK(zeDeviceGetMemoryProperties(client.device, &one, &memory));
  CHECK(device.maxMemAllocSize == LIMIT * MIB && memory.totalSize == LIMIT * MIB);
  CHECK(ext.physicalSize > LIMIT * MIB);
  void *pointer, *all[LIMIT + 1];
  for (int round = 0; round < 20; ++round) {
    // More than one allocation may ever have.
    CHECK(take(&client, (size_t)(LIMIT + 1) * MIB, &pointer) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    int count = 0;
    ze_result_t code;
    while ((code = take(&client, MIB, &all[count])) == ZE_RESULT_SUCCESS) {
      memset(all[count], round, MIB);
      CHECK(++count <= LIMIT);
    }
    CHECK(code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY && count == LIMIT);
    told(&client, "67108864 of 67108864 bytes");
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    CHECK(zeMemAllocHost(client.context, &host, 1, 1, &pointer) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    told(&client, "1 bytes of memory are not available");
    ze_image_desc_t image = {ZE_STRUCTURE_TYPE_IMAGE_DESC};
    image.type = ZE_IMAGE_TYPE_2D, image.width = image.height = 64, image.depth = 1;
    image.format.layout = ZE_IMAGE_FORMAT_LAYOUT_32;
    ze_image_handle_t made;
    CHECK(zeImageCreate(client.context, client.device, &image, &made) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    told(&client, "67108864 of 67108864 bytes");
    ze_physical_mem_desc_t physical = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, NULL, ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE, 2 * MIB};
    ze_physical_mem_handle_t pages;
    CHECK(zePhysicalMemCreate(client.context, client.device, &physical, &pages) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    told(&client, "67108864 of 67108864 bytes");
    OK(zeMemFree(client.context, all[--count]));
    client_add(&client, 1000); // allocates memory for its arguments
    while (count) OK(zeMemFree(client.context, all[--count]));
  }
  puts("ok");
  return 0;
}
