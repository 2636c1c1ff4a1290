// Sub-devices, with SOLUM_SUB_DEVICES=2: how they are shown under each hierarchy, and that their work stays on their CPUs.
// argv[2]: the number of devices of zeDeviceGet; argv[3]: sub-devices of the first; argv[4]: whether the first has a root.
#include "client.h"
#include <sched.h>

static void cpus_of_worker(void *all) {
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
  CPU_OR((cpu_set_t *)all, (cpu_set_t *)all, &set);
}

static void works(struct client *client, const char *spirv, ze_device_handle_t device) {
  struct client mine = {client->driver, device, client->context, NULL, NULL};
  FILE *file = fopen(spirv, "rb");
  static unsigned char bytes[1 << 16];
  ze_module_desc_t module_desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
  module_desc.inputSize = fread(bytes, 1, sizeof bytes, file);
  module_desc.pInputModule = bytes;
  fclose(file);
  OK(zeModuleCreate(mine.context, device, &module_desc, &mine.module, NULL));
  ze_command_queue_desc_t queue = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  OK(zeCommandListCreateImmediate(mine.context, device, &queue, &mine.list));
  client_add(&mine, 10000);
  cpu_set_t own, seen;
  CHECK(sched_getaffinity(0, sizeof own, &own) == 0);
  CPU_ZERO(&seen);
  ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  OK(zeDeviceGetProperties(device, &properties));
  int is_sub = strstr(properties.name, "sub-device") != NULL;
  // For moments a busy machine's workers are kept off one processor, so a whole device may take several looks.
  for (int look = 0; look < 20 || (!is_sub && !CPU_EQUAL(&seen, &own)); ++look) {
    OK(zeCommandListAppendHostFunction(mine.list, cpus_of_worker, &seen, NULL, NULL, 0, NULL));
    OK(zeCommandListHostSynchronize(mine.list, UINT64_MAX));
  }
  int all = CPU_COUNT(&own), count = CPU_COUNT(&seen);
  CHECK(count >= 1 && (is_sub ? all == 1 || count < all : count == all));
  OK(zeCommandListDestroy(mine.list));
  OK(zeModuleDestroy(mine.module));
}

int main(int argc, char **argv) {
  CHECK(argc == 5);
  struct client client;
  client_driver(&client);
  ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  OK(zeContextCreate(client.driver, &context_desc, &client.context));
  uint32_t count = 0;
  OK(zeDeviceGet(client.driver, &count, NULL));
  CHECK(count == (uint32_t)atoi(argv[2]) && count <= 8);
  ze_device_handle_t devices[8], subs[8], root;
  OK(zeDeviceGet(client.driver, &count, devices));
  uint32_t sub_count = 0;
  OK(zeDeviceGetSubDevices(devices[0], &sub_count, NULL));
  CHECK(sub_count == (uint32_t)atoi(argv[3]) && sub_count <= 8);
  OK(zeDeviceGetRootDevice(devices[0], &root));
  CHECK((root != NULL) == atoi(argv[4]));
  ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  OK(zeDeviceGetProperties(devices[0], &properties));
  CHECK(((properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0) == (root != NULL));
  for (uint32_t i = 0; i < count; ++i) works(&client, argv[1], devices[i]);
  if (sub_count > 0) {
    OK(zeDeviceGetSubDevices(devices[0], &sub_count, subs));
    for (uint32_t i = 0; i < sub_count; ++i) {
      OK(zeDeviceGetRootDevice(subs[i], &root));
      CHECK(root == devices[0]);
      ze_bool_t peers = 0;
      OK(zeDeviceCanAccessPeer(subs[i], devices[0], &peers));
      CHECK(peers);
      OK(zeDeviceGetProperties(subs[i], &properties));
      CHECK(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE && properties.subdeviceId == i);
      works(&client, argv[1], subs[i]);
    }
    OK(zeDeviceSynchronize(devices[0]));
  }
  puts("ok");
  return 0;
}
