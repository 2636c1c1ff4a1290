// Virtual reservations: attributes, aliases, real protection, and the codes of invalid requests.
#include <sys/mman.h>

#include "client.h"

static size_t page;

static ze_memory_access_attribute_t access_of(struct client *client, const void *at, size_t *reach) {
  ze_memory_access_attribute_t access;
  OK(zeVirtualMemGetAccessAttribute(client->context, at, page, &access, reach));
  return access;
}

// An image and a file are one memory, in both directions.
static void images_share_memory(struct client *client) {
  ze_external_memory_export_desc_t exported = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, NULL, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD};
  ze_image_desc_t desc = {ZE_STRUCTURE_TYPE_IMAGE_DESC, &exported, 0, ZE_IMAGE_TYPE_2D};
  desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8;
  desc.width = desc.height = 32;
  ze_image_handle_t first, second;
  OK(zeImageCreate(client->context, client->device, &desc, &first));
  ze_external_memory_export_fd_t out = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, NULL, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, -1};
  ze_image_allocation_ext_properties_t properties = {ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES, &out};
  OK(zeImageGetAllocPropertiesExt(client->context, first, &properties));
  CHECK(out.fd >= 0 && properties.id != 0);

  ze_external_memory_import_fd_t imported = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, NULL, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, out.fd};
  desc.pNext = &imported;
  OK(zeImageCreate(client->context, client->device, &desc, &second));
  desc.height = 1024;
  ze_image_handle_t larger = NULL;
  CHECK(zeImageCreate(client->context, client->device, &desc, &larger) == ZE_RESULT_ERROR_INVALID_ARGUMENT && !larger);
  imported.fd = 12345;
  CHECK(zeImageCreate(client->context, client->device, &desc, &larger) == ZE_RESULT_ERROR_INVALID_ARGUMENT && !larger);

  unsigned char *bytes = mmap(NULL, 1024, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd, 0), there[1024];
  CHECK(bytes != MAP_FAILED);
  for (int i = 0; i < 1024; ++i) there[i] = (unsigned char)(i * 7);
  OK(zeCommandListAppendImageCopyFromMemory(client->list, first, there, NULL, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  CHECK(!memcmp(bytes, there, 1024));
  bytes[77] = 99;
  OK(zeImageDestroy(first));
  OK(zeCommandListAppendImageCopyToMemory(client->list, there, second, NULL, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  CHECK(there[77] == 99 && there[78] == (unsigned char)(78 * 7));
  OK(zeImageDestroy(second));
  munmap(bytes, 1024);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client client;
  client_open(&client, argv[1]);
  images_share_memory(&client);
  ze_context_handle_t context = client.context;
  OK(zeVirtualMemQueryPageSize(context, client.device, 5, &page));
  CHECK(page >= 4096 && (page & (page - 1)) == 0);
  void *base, *other;
  CHECK(zeVirtualMemReserve(context, NULL, 0, &base) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  CHECK(zeVirtualMemReserve(context, NULL, page + 1, &base) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  OK(zeVirtualMemReserve(context, NULL, 8 * page, &base));
  OK(zeVirtualMemReserve(context, base, 8 * page, &other));
  CHECK(base != other);
  OK(zeVirtualMemFree(context, other, 8 * page));
  char *at = base;

  ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
  ze_physical_mem_handle_t memory;
  CHECK(zePhysicalMemCreate(context, client.device, &desc, &memory) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  desc.size = page + 1;
  CHECK(zePhysicalMemCreate(context, client.device, &desc, &memory) == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
  desc.size = 2 * page;
  CHECK(zePhysicalMemCreate(context, NULL, &desc, &memory) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  OK(zePhysicalMemCreate(context, client.device, &desc, &memory));
  ze_physical_mem_properties_t properties = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES};
  OK(zePhysicalMemGetProperties(context, memory, &properties));
  CHECK(properties.size == 2 * page && properties.id != 0);

  size_t reach;
  CHECK(access_of(&client, at, &reach) == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && reach == 8 * page);
  CHECK(zeVirtualMemMap(context, at + 1, page, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
  CHECK(zeVirtualMemMap(context, at, page, memory, 1, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
  CHECK(zeVirtualMemMap(context, at, page + 1, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
  CHECK(zeVirtualMemSetAccessAttribute(context, at, page + 1, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  CHECK(zeVirtualMemMap(context, at, 0, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  CHECK(zeVirtualMemMap(context, at, 2 * page, memory, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(zeVirtualMemMap(context, at + 7 * page, 2 * page, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeVirtualMemMap(context, at, 2 * page, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  CHECK(zeVirtualMemMap(context, at + page, page, memory, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeVirtualMemMap(context, at + 4 * page, page, memory, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  *(uint32_t *)(at + page) = 0xdeadbeef;
  CHECK(*(uint32_t *)(at + 4 * page) == 0xdeadbeef);
  CHECK(access_of(&client, at + page, &reach) == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE && reach == page);

  ze_memory_allocation_properties_t allocation = {ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
  ze_device_handle_t device = NULL;
  OK(zeMemGetAllocProperties(context, at + 10, &allocation, &device));
  CHECK(allocation.type == ZE_MEMORY_TYPE_DEVICE && device == client.device && allocation.id == properties.id);

  // A kernel reads and writes there as anywhere; a write to read-only memory loses the context.
  ze_kernel_handle_t kernel = client_kernel(&client, "write_to");
  uint64_t address = (uint64_t)(uintptr_t)(at + 4 * page);
  ze_group_count_t groups = {1, 1, 1};
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof address, &address));
  OK(zeCommandListAppendLaunchKernel(client.list, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client.list, UINT64_MAX));
  CHECK(*(uint32_t *)(at + page) == 1);
  OK(zeVirtualMemSetAccessAttribute(context, at + 4 * page, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
  CHECK(access_of(&client, at + 4 * page, &reach) == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY && reach == page);
  CHECK(*(uint32_t *)(at + 4 * page) == 1);
  OK(zeCommandListAppendLaunchKernel(client.list, kernel, &groups, NULL, 0, NULL));
  CHECK(zeCommandListHostSynchronize(client.list, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);

  // Mapped memory survives its handle; the reservation is freed as a whole.
  struct client next;
  client_open(&next, argv[1]);
  OK(zePhysicalMemDestroy(next.context, memory));
  OK(zeVirtualMemUnmap(next.context, at, page));
  CHECK(*(uint32_t *)(at + page) == 1);
  CHECK(zeMemGetAllocProperties(next.context, at, &allocation, NULL) == ZE_RESULT_SUCCESS && allocation.type == ZE_MEMORY_TYPE_UNKNOWN);
  CHECK(zeVirtualMemFree(next.context, at, page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zeVirtualMemFree(next.context, at, 8 * page));
  CHECK(zeVirtualMemFree(next.context, at, 8 * page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  puts("ok");
  return 0;
}
