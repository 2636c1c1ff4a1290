// A call of each extension that the driver lists: a name without a row here fails, and so does a row
// whose name is not listed. With a version as second argument, only rows whose calls a loader of that version has.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_ddi.h>
#include <level_zero/ze_ddi_common.h>
#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>

#include "client.h"

static struct client client;
static const char *folder;
static int version;  // minor version of the loader

static size_t file_in_folder(const char *name, uint8_t *to, size_t most) {
  char path[4096];
  int length = (int)(strrchr(folder, '/') + 1 - folder);
  CHECK(snprintf(path, sizeof path, "%.*s%s", length, folder, name) < (int)sizeof path);
  FILE *file = fopen(path, "rb");
  CHECK(file);
  size_t size = fread(to, 1, most, file);
  fclose(file);
  CHECK(size > 0 && size < most);
  return size;
}

// Device properties with one struct behind them.
static ze_device_properties_t device_with(void *next) {
  ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, next};
  OK(zeDeviceGetProperties(client.device, &properties));
  return properties;
}

// An older loader's list is a synchronous one.
static void finish(void) {
  if (version >= 6) OK(zeCommandListHostSynchronize(client.list, UINT64_MAX));
}

static void launch(ze_kernel_handle_t kernel, uint32_t items, ze_event_handle_t event) {
  ze_group_count_t groups = {items / 8, 1, 1};
  OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
  OK(zeCommandListAppendLaunchKernel(client.list, kernel, &groups, event, 0, NULL));
}

static void set_pointer(ze_kernel_handle_t kernel, uint32_t index, void *pointer) {
  OK(zeKernelSetArgumentValue(kernel, index, sizeof pointer, &pointer));
}

static ze_event_handle_t event_of(const void *next) {
  ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, next};
  desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  desc.count = 1;
  ze_event_pool_handle_t pool;
  OK(zeEventPoolCreate(client.context, &desc, 0, NULL, &pool));
  ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
  ze_event_handle_t event;
  OK(zeEventCreate(pool, &event_desc, &event));
  return event;
}

// An event whose kernel has run, with the host's time before and after it.
static ze_event_handle_t event_of_launch(void) {
  ze_kernel_handle_t kernel = client_kernel(&client, "identify");
  ze_event_handle_t event = event_of(NULL);
  set_pointer(kernel, 0, client_shared(&client, 64 * 4));
  launch(kernel, 64, event);
  OK(zeEventHostSynchronize(event, UINT64_MAX));
  return event;
}

static ze_command_list_handle_t regular_list(const void *next) {
  ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, next};
  ze_command_list_handle_t list;
  OK(zeCommandListCreate(client.context, client.device, &desc, &list));
  return list;
}

// Executes a closed list and waits for it.
static void execute(ze_command_list_handle_t list) {
  ze_command_queue_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue;
  OK(zeCommandQueueCreate(client.context, client.device, &desc, &queue));
  OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
  OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
  OK(zeCommandQueueDestroy(queue));
}

enum { WIDTH = 8, HEIGHT = 4 };

static ze_image_desc_t image_desc(ze_image_format_layout_t layout, uint32_t width, uint32_t height) {
  ze_image_desc_t desc = {ZE_STRUCTURE_TYPE_IMAGE_DESC};
  desc.type = ZE_IMAGE_TYPE_2D;
  desc.format.layout = layout;
  desc.format.type = layout == ZE_IMAGE_FORMAT_LAYOUT_32 ? ZE_IMAGE_FORMAT_TYPE_UINT : ZE_IMAGE_FORMAT_TYPE_UNORM;
  desc.format.x = ZE_IMAGE_FORMAT_SWIZZLE_R, desc.format.y = ZE_IMAGE_FORMAT_SWIZZLE_G;
  desc.format.z = ZE_IMAGE_FORMAT_SWIZZLE_B, desc.format.w = ZE_IMAGE_FORMAT_SWIZZLE_A;
  desc.width = width, desc.height = height, desc.depth = 1;
  return desc;
}

// An image of 8 × 4 words 0, 1, 2…, written through the context.
static ze_image_handle_t image(ze_image_desc_t *desc) {
  *desc = image_desc(ZE_IMAGE_FORMAT_LAYOUT_32, WIDTH, HEIGHT);
  ze_image_handle_t image;
  OK(zeImageCreate(client.context, client.device, desc, &image));
  uint32_t *words = client_shared(&client, WIDTH * HEIGHT * 4);
  for (uint32_t i = 0; i < WIDTH * HEIGHT; ++i) words[i] = i;
  OK(zeCommandListAppendImageCopyFromMemory(client.list, image, words, NULL, NULL, 0, NULL));
  finish();
  return image;
}

static void holds_its_words(ze_image_handle_t image) {
  uint32_t *words = client_shared(&client, WIDTH * HEIGHT * 4);
  OK(zeCommandListAppendImageCopyToMemory(client.list, words, image, NULL, NULL, 0, NULL));
  finish();
  for (uint32_t i = 0; i < WIDTH * HEIGHT; ++i) CHECK(words[i] == i);
}

// --- memory ---------------------------------------------------------------------------------------------------------

static ze_result_t allocate(const void *next, size_t size, void **pointer) {
  ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, next};
  return zeMemAllocDevice(client.context, &desc, size, 0, client.device, pointer);
}

static const char *last_error(void) {
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(client.driver, &text));
  return text;
}

// The limit on one allocation is lifted; the memory's size is not.
static void relaxed(const void *next) {
  size_t size = device_with(NULL).maxMemAllocSize;
  void *pointer = NULL;
  CHECK(allocate(NULL, size + 1, &pointer) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  CHECK(version < 14 || strstr(last_error(), "maxMemAllocSize"));
  if (allocate(next, size + 1, &pointer) != ZE_RESULT_SUCCESS)
    CHECK(version < 14 || !strstr(last_error(), "maxMemAllocSize"));
  OK(allocate(next, 4096, &pointer));
}

static void relaxed_exp(void) {
  ze_relaxed_allocation_limits_exp_desc_t desc = {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC};
  desc.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  relaxed(&desc);
}

static void relaxed_ext(void) {
  ze_relaxed_allocation_limits_ext_desc_t desc = {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC};
  desc.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE;
  relaxed(&desc);
}

static void compression(void) {
  ze_memory_compression_hints_ext_desc_t hint = {ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC};
  for (hint.flags = 0; hint.flags < 5; ++hint.flags) {
    void *pointer = NULL;
    ze_result_t got = allocate(&hint, 64, &pointer);
    ze_image_desc_t desc = image_desc(ZE_IMAGE_FORMAT_LAYOUT_32, WIDTH, HEIGHT);
    desc.pNext = &hint;
    ze_image_handle_t image;
    CHECK(zeImageCreate(client.context, client.device, &desc, &image) == got);
    if (hint.flags == 1 || hint.flags == 2) {
      CHECK(got == ZE_RESULT_SUCCESS && pointer);
      OK(zeImageDestroy(image));
    } else {
      CHECK(got == ZE_RESULT_ERROR_INVALID_ENUMERATION);
    }
  }
}

static void free_policies(void) {
  ze_driver_memory_free_ext_properties_t policies = {ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES};
  ze_driver_properties_t properties = {ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, &policies};
  OK(zeDriverGetProperties(client.driver, &properties));
  CHECK(policies.freePolicies);
  ze_memory_free_ext_desc_t desc = {ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC};
  for (desc.freePolicy = 1; desc.freePolicy < 8; desc.freePolicy *= 2) {
    void *pointer = client_shared(&client, 64);
    ze_result_t got = zeMemFreeExt(client.context, &desc, pointer);
    CHECK((got == ZE_RESULT_SUCCESS) == ((policies.freePolicies & desc.freePolicy) != 0));
  }
}

static void over_system_memory(void) {
  size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
  void *own = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *pointer;
  CHECK(own != MAP_FAILED);
  ze_external_memmap_sysmem_ext_desc_t over = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC, NULL, own, size};
  ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &over};
  OK(zeMemAllocHost(client.context, &desc, size, 0, &pointer));
  CHECK(pointer == own);
  OK(zeCommandListAppendMemoryFill(client.list, pointer, "y", 1, size, NULL, 0, NULL));
  finish();
  OK(zeMemFree(client.context, pointer));
  CHECK(((char *)own)[0] == 'y' && ((char *)own)[size - 1] == 'y');
}

static void ipc_types(void) {
  ze_ipc_mem_handle_type_ext_desc_t type = {ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC};
  type.typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT;
  void *memory = NULL;
  ze_ipc_mem_handle_t handle;
  OK(allocate(NULL, 4096, &memory));
  OK(zeMemGetIpcHandleWithProperties(client.context, memory, &type, &handle));
  OK(zeMemPutIpcHandle(client.context, handle));
  type.typeFlags = 1u << 9;
  CHECK(zeMemGetIpcHandleWithProperties(client.context, memory, &type, &handle) != ZE_RESULT_SUCCESS);
}

static void read_only_pages(void) {
  ze_device_readonly_memory_ext_properties_t readonly = {ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES};
  device_with(&readonly);
  CHECK(readonly.readonlyCapability == ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED);
  size_t page = 0;
  OK(zeVirtualMemQueryPageSize(client.context, client.device, 4096, &page));
  ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
  desc.size = page;
  ze_physical_mem_handle_t physical;
  OK(zePhysicalMemCreate(client.context, client.device, &desc, &physical));
  void *at = NULL;
  OK(zeVirtualMemReserve(client.context, NULL, page, &at));
  OK(zeVirtualMemMap(client.context, at, page, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  *(char *)at = 'r';
  OK(zeVirtualMemSetAccessAttribute(client.context, at, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
  CHECK(*(char *)at == 'r');
  // The system itself refuses to write there.
  int zero = open("/dev/zero", O_RDONLY);
  CHECK(zero >= 0 && read(zero, at, 1) == -1);
  close(zero);
  OK(zeVirtualMemUnmap(client.context, at, page));
  OK(zeVirtualMemFree(client.context, at, page));
  OK(zePhysicalMemDestroy(client.context, physical));
}

// --- properties -----------------------------------------------------------------------------------------------------

static void caches(int reserve) {
  uint32_t count = 0;
  OK(zeDeviceGetCacheProperties(client.device, &count, NULL));
  CHECK(count > 0 && count < 16);
  ze_device_cache_properties_t all[16] = {{0}};
  ze_cache_reservation_ext_desc_t most[16] = {{0}};
  ze_device_cache_line_size_ext_t lines[16] = {{0}};
  for (uint32_t i = 0; i < count; ++i) {
    most[i] = (ze_cache_reservation_ext_desc_t){ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC, NULL, 1};
    lines[i] = (ze_device_cache_line_size_ext_t){ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT, &most[i], 1};
    all[i] = (ze_device_cache_properties_t){ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES, &lines[i]};
  }
  OK(zeDeviceGetCacheProperties(client.device, &count, all));
  size_t machines = 0;
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "r");
  if (file && fscanf(file, "%zu", &machines) != 1) machines = 0;
  if (file) fclose(file);
  void *memory = client_shared(&client, 4096);
  for (uint32_t i = 0; i < count; ++i) {
    size_t line = lines[i].cacheLineSize, size = most[i].maxCacheReservationSize;
    CHECK(line >= 16 && !(line & (line - 1)) && (!machines || line == machines));
    if (!reserve) continue;
    CHECK(size <= all[i].cacheSize);
    OK(zeDeviceReserveCacheExt(client.device, i + 1, size));
    CHECK(zeDeviceReserveCacheExt(client.device, i + 1, size + 1) != ZE_RESULT_SUCCESS);
    OK(zeDeviceSetCacheAdviceExt(client.device, memory, 4096, ZE_CACHE_EXT_REGION_NON_RESERVED));
    OK(zeDeviceSetCacheAdviceExt(client.device, memory, 4096, ZE_CACHE_EXT_REGION_DEFAULT));
    ze_result_t got = zeDeviceSetCacheAdviceExt(client.device, memory, 4096, ZE_CACHE_EXT_REGION_RESERVED);
    CHECK((got == ZE_RESULT_SUCCESS) == (size > 0));
  }
}

static void cache_reservation(void) { caches(1); }
static void cache_lines(void) { caches(0); }

static void ip_version(void) {
  ze_device_ip_version_ext_t version = {ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT};
  device_with(&version);
  CHECK(version.ipVersion != 0);
}

static void memory_kind(void) {
  uint32_t count = 1;
  ze_device_memory_ext_properties_t ext = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES};
  ze_device_memory_properties_t memory = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, &ext};
  OK(zeDeviceGetMemoryProperties(client.device, &count, &memory));
  CHECK(count == 1 && ext.physicalSize == memory.totalSize && ext.type <= ZE_DEVICE_MEMORY_EXT_TYPE_GDDR6X);
  // Known where the firmware's table can be read and has it; one goes with the other.
  CHECK(ext.bandwidthUnit == (memory.maxClockRate ? ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC : ZE_BANDWIDTH_UNIT_UNKNOWN));
  CHECK(!!ext.readBandwidth == !!memory.maxClockRate && ext.writeBandwidth == ext.readBandwidth);
  CHECK(memory.maxBusWidth >= 32 && memory.maxBusWidth % 8 == 0);
  CHECK(!memory.maxClockRate || access("/sys/firmware/dmi/tables/DMI", R_OK) == 0);
}

static void usable_memory(void) {
  uint32_t count = 1;
  ze_device_memory_properties_t memory = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
  OK(zeDeviceGetMemoryProperties(client.device, &count, &memory));
  ze_device_usablemem_size_ext_properties_t usable = {ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES};
  device_with(&usable);
  CHECK(usable.currUsableMemSize > 0 && usable.currUsableMemSize <= memory.totalSize);
  char line[256];
  unsigned long long total = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  CHECK(file);
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "MemTotal: %llu", &total) == 1) break;
  fclose(file);
  CHECK(usable.currUsableMemSize < total * 1024);
}

static void vector_widths(void) {
  uint32_t count = 1;
  ze_device_vector_width_properties_ext_t width = {ZE_STRUCTURE_TYPE_DEVICE_VECTOR_WIDTH_PROPERTIES_EXT};
  OK(zeDeviceGetVectorWidthPropertiesExt(client.device, &count, &width));
  CHECK(count == 1 && width.vector_width_size >= 16);
  CHECK(width.native_vector_width_float * 4 == width.vector_width_size);
  CHECK(width.native_vector_width_double * 8 == width.vector_width_size);
  CHECK(width.native_vector_width_char == width.vector_width_size);
  CHECK(width.preferred_vector_width_int == width.native_vector_width_int);
}

static void ddi_handles(void) {
  ze_driver_ddi_handles_ext_properties_t ddi = {ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES};
  ze_driver_properties_t properties = {ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, &ddi};
  OK(zeDriverGetProperties(client.driver, &properties));
  CHECK(ddi.flags & ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED);
  uint32_t count = 1;
  ze_device_handle_t device;
  OK(((ze_handle_t *)client.driver)->pCore->Device->pfnGet(client.driver, &count, &device));
  CHECK(device == client.device);
}

static void eu_count(void) {
  ze_eu_count_ext_t eus = {ZE_STRUCTURE_TYPE_EU_COUNT_EXT};
  ze_device_properties_t device = device_with(&eus);
  CHECK(eus.numTotalEUs > 0);
  CHECK(eus.numTotalEUs == device.numSlices * device.numSubslicesPerSlice * device.numEUsPerSubslice);
}

static void pci(void) {
  ze_pci_ext_properties_t properties = {ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
  properties.address.function = 77, properties.maxSpeed.width = 77;
  OK(zeDevicePciGetPropertiesExt(client.device, &properties));
  // No bus: an address of the driver's own, and an unknown speed.
  CHECK(properties.address.function == 0 && properties.maxSpeed.width == -1);
}

static void ray_tracing(void) {
  ze_device_raytracing_ext_properties_t rays = {ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES, NULL, 0xff, 77};
  ze_device_module_properties_t module = {ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, &rays};
  OK(zeDeviceGetModuleProperties(client.device, &module));
  CHECK(rays.flags == 0 && rays.maxBVHLevels == 0);  // no ray queries in kernels
  ze_raytracing_mem_alloc_ext_desc_t desc = {ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC};
  void *pointer = NULL;
  OK(allocate(&desc, 4096, &pointer));
  OK(zeMemFree(client.context, pointer));
  CHECK(!zeDriverGetExtensionFunctionAddress(client.driver, "zeSolumRTASIntersect", &pointer) && pointer);
}

// A triangle's sizes by one form; ray_tracing.c builds and shoots.
#define STRUCTURES(X, low, S)                                                                                 \
  static void structures_##low(void) {                                                                        \
    ze_rtas_device_##low##_properties_t device = {ZE_STRUCTURE_TYPE_RTAS_DEVICE_##S##_PROPERTIES};            \
    device_with(&device);                                                                                     \
    CHECK(device.rtasFormat != ZE_RTAS_FORMAT_##S##_INVALID && device.rtasBufferAlignment > 0);               \
    OK(zeDriverRTASFormatCompatibilityCheck##X(client.driver, device.rtasFormat, device.rtasFormat));         \
    ze_rtas_builder_##low##_desc_t desc = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_##S##_DESC};                        \
    desc.builderVersion = ZE_RTAS_BUILDER_##S##_VERSION_CURRENT;                                              \
    ze_rtas_builder_##low##_handle_t builder;                                                                 \
    OK(zeRTASBuilderCreate##X(client.driver, &desc, &builder));                                               \
    float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};                                                          \
    uint32_t indices[3] = {0, 1, 2};                                                                          \
    ze_rtas_builder_triangles_geometry_info_##low##_t mesh = {0};                                             \
    mesh.geometryType = ZE_RTAS_BUILDER_GEOMETRY_TYPE_##S##_TRIANGLES, mesh.geometryMask = 0xff;              \
    mesh.triangleFormat = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_##S##_TRIANGLE_INDICES_UINT32;                    \
    mesh.vertexFormat = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_##S##_FLOAT3;                                       \
    mesh.triangleCount = 1, mesh.vertexCount = 3, mesh.triangleStride = 12, mesh.vertexStride = 12;           \
    mesh.pTriangleBuffer = indices, mesh.pVertexBuffer = vertices;                                            \
    const ze_rtas_builder_geometry_info_##low##_t *geometries[1] = {(const void *)&mesh};                     \
    ze_rtas_builder_build_op_##low##_desc_t op = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_BUILD_OP_##S##_DESC};        \
    op.rtasFormat = device.rtasFormat, op.ppGeometries = geometries, op.numGeometries = 1;                    \
    ze_rtas_builder_##low##_properties_t sizes = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_##S##_PROPERTIES};           \
    OK(zeRTASBuilderGetBuildProperties##X(builder, &op, &sizes));                                             \
    void *scratch = malloc(sizes.scratchBufferSizeBytes + 1);                                                 \
    void *to = client_shared(&client, sizes.rtasBufferSizeBytesMaxRequired);                                  \
    ze_rtas_aabb_##low##_t bounds;                                                                            \
    size_t size = 0;                                                                                          \
    OK(zeRTASBuilderBuild##X(builder, &op, scratch, sizes.scratchBufferSizeBytes, to,                         \
                             sizes.rtasBufferSizeBytesMaxRequired, NULL, NULL, &bounds, &size));              \
    CHECK(size > 0 && bounds.lower.x == 0 && bounds.upper.x == 1 && bounds.upper.z == 0);                     \
    free(scratch);                                                                                            \
    OK(zeRTASBuilderDestroy##X(builder));                                                                     \
  }
STRUCTURES(Ext, ext, EXT)
STRUCTURES(Exp, exp, EXP)

// --- kernels and modules --------------------------------------------------------------------------------------------

static void bfloat16(void) {
  ze_kernel_handle_t kernel = client_kernel(&client, "brain");
  float *in = client_shared(&client, 32), *out = client_shared(&client, 32);
  uint16_t *bits = client_shared(&client, 16);
  // The last two are halfway: to even, once down and once up.
  static const uint32_t given[8] = {0,          0x3f800000, 0xc0490fdb, 0x7f800000,
                                    0x00800000, 0x3f80ffff, 0x3f808000, 0x3f818000};
  static const uint16_t kept[8] = {0, 0x3f80, 0xc049, 0x7f80, 0x0080, 0x3f81, 0x3f80, 0x3f82};
  memcpy(in, given, sizeof given);
  set_pointer(kernel, 0, in), set_pointer(kernel, 1, bits), set_pointer(kernel, 2, out);
  launch(kernel, 8, NULL);
  finish();
  for (int i = 0; i < 8; ++i) {
    uint32_t word;
    memcpy(&word, &out[i], 4);
    CHECK(bits[i] == kept[i] && word == (uint32_t)kept[i] << 16);
  }
}

static void float_atomics(void) {
  ze_float_atomic_ext_properties_t atomics = {ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES};
  ze_device_module_properties_t module = {ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, &atomics};
  OK(zeDeviceGetModuleProperties(client.device, &module));
  uint32_t need = ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX;
  CHECK((atomics.fp32Flags & need) == need);
  ze_kernel_handle_t kernel = client_kernel(&client, "tally");
  float *sum = client_shared(&client, 4), *most = client_shared(&client, 4);
  set_pointer(kernel, 0, sum), set_pointer(kernel, 1, most);
  launch(kernel, 8000, NULL);
  finish();
  CHECK(*sum == 8000.0f && *most == 7999.0f);
}

static void sub_groups(void) {
  ze_device_compute_properties_t compute = {ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
  OK(zeDeviceGetComputeProperties(client.device, &compute));
  CHECK(compute.numSubGroupSizes > 0);
  ze_kernel_handle_t kernel = client_kernel(&client, "subgroups");
  uint32_t *sums = client_shared(&client, 64 * 4), *sizes = client_shared(&client, 64 * 4);
  set_pointer(kernel, 0, sums), set_pointer(kernel, 1, sizes);
  launch(kernel, 64, NULL);
  finish();
  for (int i = 0; i < 64; ++i) CHECK(sizes[i] > 0 && sums[i] == sizes[i] * (sizes[i] - 1) / 2);
}

static void global_offset(void) {
  ze_kernel_handle_t kernel = client_kernel(&client, "identify");
  uint32_t *ids = client_shared(&client, 64 * 4);
  set_pointer(kernel, 0, ids);
  OK(zeKernelSetGlobalOffsetExp(kernel, 1000, 0, 0));
  launch(kernel, 64, NULL);
  finish();
  for (uint32_t i = 0; i < 64; ++i) CHECK(ids[i] == 1000 + i);
}

static void scheduling_hints(void) {
  ze_scheduling_hint_exp_properties_t hints = {ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES};
  ze_device_module_properties_t module = {ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, &hints};
  OK(zeDeviceGetModuleProperties(client.device, &module));
  CHECK(hints.schedulingHintFlags);
  ze_kernel_handle_t kernel = client_kernel(&client, "identify");
  ze_scheduling_hint_exp_desc_t desc = {ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_DESC};
  desc.flags = hints.schedulingHintFlags & -hints.schedulingHintFlags;
  OK(zeKernelSchedulingHintExp(kernel, &desc));
  desc.flags = 1u << 20;
  CHECK(zeKernelSchedulingHintExp(kernel, &desc) == ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

static void kernel_allocations(void) {
  ze_kernel_handle_t kernel = client_kernel(&client, "identify");
  void *memory = client_shared(&client, 4096);
  set_pointer(kernel, 0, (char *)memory + 16);
  uint32_t count = 1;
  ze_kernel_allocation_exp_properties_t found = {ZE_STRUCTURE_TYPE_KERNEL_ALLOCATION_PROPERTIES};
  OK(zeKernelGetAllocationPropertiesExp(kernel, &count, &found));
  CHECK(count == 1 && found.base == (uintptr_t)memory && found.size == 4096 && found.argIndex == 0);
  CHECK(found.type == ZE_MEMORY_TYPE_SHARED);
}

static void group_size(void) {
  ze_kernel_max_group_size_properties_ext_t most = {ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES};
  ze_kernel_properties_t properties = {ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, &most};
  ze_kernel_handle_t kernel = client_kernel(&client, "identify");
  OK(zeKernelGetProperties(kernel, &properties));
  CHECK(most.maxGroupSize > 0);
  OK(zeKernelSetGroupSize(kernel, most.maxGroupSize, 1, 1));
  CHECK(zeKernelSetGroupSize(kernel, most.maxGroupSize + 1, 1, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
}

// Builds two files as one program.
static ze_module_handle_t program(const char *a, const char *b) {
  static uint8_t bytes[2][1 << 14];
  size_t sizes[2] = {file_in_folder(a, bytes[0], sizeof bytes[0]), file_in_folder(b, bytes[1], sizeof bytes[1])};
  const uint8_t *inputs[2] = {bytes[0], bytes[1]};
  ze_module_program_exp_desc_t both = {ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC};
  both.count = 2, both.inputSizes = sizes, both.pInputModules = inputs;
  ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, &both, ZE_MODULE_FORMAT_IL_SPIRV};
  ze_module_handle_t module;
  OK(zeModuleCreate(client.context, client.device, &desc, &module, NULL));
  return module;
}

static void call(ze_module_handle_t module, const char *name, int *out, int x) {
  ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC};
  desc.pKernelName = name;
  ze_kernel_handle_t kernel;
  OK(zeKernelCreate(module, &desc, &kernel));
  set_pointer(kernel, 0, out);
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof x, &x));
  launch(kernel, 8, NULL);
  finish();
}

static void module_program(void) {
  int *out = client_shared(&client, 64);
  call(program("linked_user.spv", "linked_library.spv"), "user", out, 21);
  CHECK(out[0] == 42);
}

static void once_of_two(void) {
  int *out = client_shared(&client, 64);
  ze_module_handle_t module = program("once_first.spv", "once_second.spv");
  call(module, "first", out, 5);
  call(module, "second", out, 7);
  CHECK(out[0] == 16 && out[1] == 44);
}

static void inspection(void) {
  static uint8_t bytes[1 << 14];
  ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_IL_SPIRV};
  desc.inputSize = file_in_folder("linked_user.spv", bytes, sizeof bytes), desc.pInputModule = bytes;
  ze_module_handle_t module;
  OK(zeModuleCreate(client.context, client.device, &desc, &module, NULL));
  ze_linkage_inspection_ext_desc_t inspect = {ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC};
  inspect.flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS;
  ze_module_build_log_handle_t log;
  OK(zeModuleInspectLinkageExt(&inspect, 1, &module, &log));
  char text[4096];
  size_t size = sizeof text;
  OK(zeModuleBuildLogGetString(log, &size, text));
  CHECK(strstr(text, "twice"));
}

// --- lists and events -----------------------------------------------------------------------------------------------

static ze_command_list_handle_t fill_list(char *memory, char value) {
  ze_command_list_handle_t list = regular_list(NULL);
  OK(zeCommandListAppendMemoryFill(list, memory, &value, 1, 64, NULL, 0, NULL));
  OK(zeCommandListClose(list));
  return list;
}

static void clone(void) {
  char *memory = client_shared(&client, 64);
  ze_command_list_handle_t list = fill_list(memory, 'c'), copy = NULL;
  OK(zeCommandListCreateCloneExp(list, &copy));
  CHECK(copy && copy != list);
  OK(zeCommandListDestroy(list));
  execute(copy);
  CHECK(memory[63] == 'c');
}

static void immediate_append(void) {
  char *memory = client_shared(&client, 64);
  ze_command_list_handle_t list = fill_list(memory, 'i');
  ze_event_handle_t event = event_of(NULL);
  OK(zeCommandListImmediateAppendCommandListsExp(client.list, 1, &list, event, 0, NULL));
  OK(zeEventHostSynchronize(event, UINT64_MAX));
  CHECK(memory[63] == 'i');
}

static void mutable_list(void) {
  ze_mutable_command_list_exp_properties_t can = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES};
  device_with(&can);
  CHECK(can.mutableCommandFlags & ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT);
  ze_mutable_command_list_exp_desc_t wish = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
  ze_command_list_handle_t list = regular_list(&wish);
  ze_mutable_command_id_exp_desc_t what = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC};
  what.flags = ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT;
  uint64_t id = 0;
  OK(zeCommandListGetNextCommandIdExp(list, &what, &id));
  ze_kernel_handle_t kernel = client_kernel(&client, "identify");
  uint32_t *ids = client_shared(&client, 64 * 4);
  set_pointer(kernel, 0, ids);
  OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
  ze_group_count_t groups = {1, 1, 1};
  OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListClose(list));
  groups.groupCountX = 4;
  ze_mutable_group_count_exp_desc_t more = {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC, NULL, id, &groups};
  ze_mutable_commands_exp_desc_t change = {ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, &more};
  OK(zeCommandListUpdateMutableCommandsExp(list, &change));
  OK(zeCommandListClose(list));
  execute(list);
  CHECK(ids[31] == 31 && ids[32] == 0);
}

static void graph(void) {
  ze_record_replay_graph_ext_properties_t can = {ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_PROPERTIES};
  device_with(&can);
  CHECK(can.graphFlags);
  char *memory = client_shared(&client, 64);
  OK(zeCommandListBeginGraphCaptureExt(client.list, NULL));
  OK(zeCommandListAppendMemoryFill(client.list, memory, "g", 1, 64, NULL, 0, NULL));
  ze_graph_handle_t recorded;
  OK(zeCommandListEndGraphCaptureExt(client.list, NULL, &recorded));
  CHECK(memory[0] == 0);
  ze_executable_graph_handle_t executable;
  OK(zeGraphInstantiateExt(recorded, NULL, &executable));
  for (int round = 0; round < 2; ++round) {
    memory[0] = 0;
    OK(zeCommandListAppendGraphExt(client.list, executable, NULL, NULL, 0, NULL));
    finish();
    CHECK(memory[0] == 'g' && memory[63] == 'g');
  }
  OK(zeExecutableGraphDestroyExt(executable));
  OK(zeGraphDestroyExt(recorded));
}

static void counting_events(void) {
  ze_event_pool_counter_based_exp_desc_t counting = {ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC};
  counting.flags = ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE;
  ze_event_handle_t event = event_of(&counting);
  // Signalled again without a reset, which counter-based events do not have.
  for (int round = 0; round < 3; ++round) {
    OK(zeCommandListAppendSignalEvent(client.list, event));
    OK(zeEventHostSynchronize(event, UINT64_MAX));
  }
  CHECK(zeEventHostReset(event) != ZE_RESULT_SUCCESS);
}

static void timestamps_exp(void) {
  ze_event_handle_t event = event_of_launch();
  uint32_t count = 0;
  OK(zeEventQueryTimestampsExp(event, client.device, &count, NULL));
  CHECK(count == 1);
  ze_kernel_timestamp_result_t times, same;
  OK(zeEventQueryTimestampsExp(event, client.device, &count, &times));
  OK(zeEventQueryKernelTimestamp(event, &same));
  CHECK(!memcmp(&times, &same, sizeof same));
  CHECK(times.global.kernelStart && times.global.kernelEnd >= times.global.kernelStart);
}

static uint64_t raw_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void timestamps_ext(void) {
  ze_event_query_kernel_timestamps_ext_properties_t can = {
      ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES};
  can.flags = 0xff;
  device_with(&can);
  CHECK(!(can.flags & ~(uint32_t)(ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                                  ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED)));
  CHECK(can.flags & ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL);
  uint64_t host = 0, on_device = 0, after = 0;
  const uint64_t before = raw_clock();
  OK(zeDeviceGetGlobalTimestamps(client.device, &host, &on_device));
  // Profilers take the host's timestamp for one of theirs.
  CHECK(before <= host && host <= raw_clock());
  ze_event_handle_t event = event_of_launch();
  OK(zeDeviceGetGlobalTimestamps(client.device, &after, &on_device));
  uint32_t count = 0;
  OK(zeEventQueryKernelTimestampsExt(event, client.device, &count, NULL));
  CHECK(count == 1);
  ze_kernel_timestamp_result_t times = {{0}};
  ze_synchronized_timestamp_result_ext_t on_host = {{0}};
  ze_event_query_kernel_timestamps_results_ext_properties_t results = {
      ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES};
  results.pKernelTimestampsBuffer = &times;
  if (can.flags & ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED)
    results.pSynchronizedTimestampsBuffer = &on_host;
  OK(zeEventQueryKernelTimestampsExt(event, client.device, &count, &results));
  CHECK(times.global.kernelStart && times.global.kernelEnd >= times.global.kernelStart);
  if (results.pSynchronizedTimestampsBuffer)
    CHECK(host <= on_host.global.kernelStart && on_host.global.kernelStart <= on_host.global.kernelEnd &&
          on_host.global.kernelEnd <= after);
}

// --- images ---------------------------------------------------------------------------------------------------------

static void image_memory(void) {
  ze_image_desc_t desc;
  ze_image_memory_properties_exp_t memory = {ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES};
  OK(zeImageGetMemoryPropertiesExp(image(&desc), &memory));
  CHECK(memory.rowPitch >= WIDTH * 4 && memory.slicePitch >= memory.rowPitch);
  CHECK(memory.size >= memory.rowPitch * HEIGHT);
}

static void image_allocation(void) {
  ze_image_desc_t desc;
  ze_image_allocation_ext_properties_t one = {ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES}, other = one;
  OK(zeImageGetAllocPropertiesExt(client.context, image(&desc), &one));
  OK(zeImageGetAllocPropertiesExt(client.context, image(&desc), &other));
  CHECK(one.id != other.id);
}

static void image_support(void) {
  ze_image_format_support_ext_properties_t support = {ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES};
  ze_image_properties_t properties = {ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES, &support};
  ze_image_desc_t desc = image_desc(ZE_IMAGE_FORMAT_LAYOUT_32, WIDTH, HEIGHT);
  OK(zeImageGetProperties(client.device, &desc, &properties));
  CHECK(support.supported);
  // Floating-point numbers of eight bits are not supported.
  desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8, desc.format.type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
  OK(zeImageGetProperties(client.device, &desc, &properties));
  CHECK(!support.supported);
}

static void image_copies(void) {
  ze_image_desc_t desc;
  ze_image_handle_t made = image(&desc);
  // Rows further apart than the image is wide.
  enum { PITCH = 64 };
  uint8_t *memory = client_shared(&client, PITCH * HEIGHT);
  ze_image_region_t region = {2, 1, 0, 4, 2, 1};
  OK(zeCommandListAppendImageCopyToMemoryExt(client.list, memory, made, &region, PITCH, PITCH * 2, NULL, 0, NULL));
  finish();
  for (uint32_t y = 0; y < 2; ++y)
    for (uint32_t x = 0; x < 4; ++x) CHECK(((uint32_t *)(memory + y * PITCH))[x] == (y + 1) * WIDTH + x + 2);
  CHECK(((uint32_t *)memory)[4] == 0);
  OK(zeCommandListAppendImageCopyFromMemoryExt(client.list, made, memory, &region, PITCH, PITCH * 2, NULL, 0, NULL));
  finish();
  holds_its_words(made);
}

static void view_ext(void) {
  ze_image_desc_t desc;
  ze_image_handle_t whole = image(&desc), view;
  OK(zeImageViewCreateExt(client.context, client.device, &desc, whole, &view));
  holds_its_words(view);
}

static void view_exp(void) {
  ze_image_desc_t desc;
  ze_image_handle_t whole = image(&desc), view;
  OK(zeImageViewCreateExp(client.context, client.device, &desc, whole, &view));
  holds_its_words(view);
}

// An older loader has not the one: calls look a function up when they come to it, a pointer at the start.
#pragma weak zeImageViewCreateExt
typedef ze_result_t (*view_t)(ze_context_handle_t, ze_device_handle_t, const ze_image_desc_t *, ze_image_handle_t,
                              ze_image_handle_t *);

// The chroma of a frame, by either spelling.
static void planar(view_t create, const void *second_plane) {
  ze_image_desc_t desc = image_desc(ZE_IMAGE_FORMAT_LAYOUT_NV12, WIDTH, HEIGHT);
  ze_image_handle_t frame, view;
  OK(zeImageCreate(client.context, client.device, &desc, &frame));
  uint8_t *bytes = client_shared(&client, 64), *chroma = client_shared(&client, 64);
  for (uint8_t i = 0; i < 48; ++i) bytes[i] = i;
  OK(zeCommandListAppendImageCopyFromMemory(client.list, frame, bytes, NULL, NULL, 0, NULL));
  finish();
  desc = image_desc(ZE_IMAGE_FORMAT_LAYOUT_8_8, WIDTH / 2, HEIGHT / 2);
  desc.pNext = second_plane;
  OK(create(client.context, client.device, &desc, frame, &view));
  OK(zeCommandListAppendImageCopyToMemory(client.list, chroma, view, NULL, NULL, 0, NULL));
  finish();
  CHECK(!memcmp(chroma, bytes + WIDTH * HEIGHT, WIDTH * HEIGHT / 2));
}

static void planar_ext(void) {
  ze_image_view_planar_ext_desc_t plane = {ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC, NULL, 1};
  planar(zeImageViewCreateExt, &plane);
}

static void planar_exp(void) {
  ze_image_view_planar_exp_desc_t plane = {ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXP_DESC, NULL, 1};
  planar(zeImageViewCreateExp, &plane);
}

static void bindless(void) {
  size_t pitch = 0;
  OK(zeMemGetPitchFor2dImage(client.context, client.device, WIDTH, HEIGHT, 4, &pitch));
  CHECK(pitch >= WIDTH * 4);
  uint32_t *memory = client_shared(&client, pitch * HEIGHT);
  for (uint32_t y = 0; y < HEIGHT; ++y)
    for (uint32_t x = 0; x < WIDTH; ++x) memory[y * (pitch / 4) + x] = y * WIDTH + x;
  ze_image_pitched_exp_desc_t over = {ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC};
  over.ptr = memory;
  ze_image_bindless_exp_desc_t desc = {ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, &over};
  desc.flags = ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS;
  ze_image_desc_t image = image_desc(ZE_IMAGE_FORMAT_LAYOUT_32, WIDTH, HEIGHT);
  image.pNext = &desc;
  ze_image_handle_t made;
  OK(zeImageCreate(client.context, client.device, &image, &made));
  uint64_t offset = 0;
  OK(zeImageGetDeviceOffsetExp(made, &offset));
  CHECK(offset != 0);
  holds_its_words(made);
}

// A list that waits for a word that it writes before, and then copies it.
static void memory_sync(void) {
  struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t bytes;
  } size = {(ze_structure_type_t)0x00030017, NULL, 0};
  device_with(&size);
  CHECK(size.bytes == 4);
  ze_result_t (*wait)(ze_command_list_handle_t, const uint32_t *, void *, uint32_t, ze_event_handle_t);
  ze_result_t (*write)(ze_command_list_handle_t, const uint32_t *, void *, uint64_t);
  void *address = NULL;
  OK(zeDriverGetExtensionFunctionAddress(client.driver, "zexCommandListAppendWaitOnMemory", &address));
  memcpy(&wait, &address, sizeof wait);
  OK(zeDriverGetExtensionFunctionAddress(client.driver, "zexCommandListAppendWriteToMemory", &address));
  memcpy(&write, &address, sizeof write);
  ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *memory = NULL;
  OK(zeMemAllocHost(client.context, &desc, 64, 64, &memory));
  volatile uint64_t *words = memory;
  words[0] = words[1] = 0;
  uint32_t equal[] = {1, 4}, scope = 4;
  OK(write(client.list, &scope, memory, 7));
  OK(wait(client.list, equal, memory, 7, NULL));
  OK(zeCommandListAppendMemoryCopy(client.list, (char *)memory + 8, memory, 8, NULL, 0, NULL));
  finish();
  CHECK(words[1] == 7);
  OK(zeMemFree(client.context, memory));
}

#include "extensions_tools.h"

// --- the table ------------------------------------------------------------------------------------------------------

static const struct row {
  const char *name;
  int since;  // minor version of the newest call
  void (*proof)(void);
} rows[] = {
    {"ZES_experimental_sysman_device_mapping", 9, device_mapping},
    {"ZES_extension_engine_activity", 7, engine_activity},
    {"ZES_extension_power_domain_properties", 8, power_domains},
    {"ZES_extension_power_limits", 8, power_limits},
    {"ZES_extension_ras_state", 8, memory_errors},
    {"ZET_experimental_api_tracing", 0, api_tracing},
    {"ZET_experimental_calculate_multiple_metrics", 2, multiple_metrics},
    {"ZET_experimental_concurrent_metric_groups", 10, concurrent_groups},
    {"ZET_experimental_global_metric_timestamps", 5, metric_clock},
    {"ZET_experimental_metric_export_data", 6, export_data},
    {"ZET_experimental_metrics_runtime_enable_disable", 13, metrics_switch},
    {"ZE_experimental_bindless_image", 9, bindless},
    {"ZE_experimental_command_list_clone", 9, clone},
    {"ZE_experimental_event_pool_counter_based", 8, counting_events},
    {"ZE_experimental_event_query_timestamps", 2, timestamps_exp},
    {"ZE_experimental_global_offset", 1, global_offset},
    {"ZE_experimental_image_memory_properties", 2, image_memory},
    {"ZE_experimental_image_view", 5, view_exp},
    {"ZE_experimental_image_view_planar", 5, planar_exp},
    {"ZE_experimental_immediate_command_list_append", 9, immediate_append},
    {"ZE_experimental_kernel_allocation_properties", 14, kernel_allocations},
    {"ZE_experimental_module_program", 0, module_program},
    {"ZE_experimental_mutable_command_list", 9, mutable_list},
    {"ZE_experimental_relaxed_allocation_limits", 1, relaxed_exp},
    {"ZE_experimental_rtas_builder", 7, structures_exp},
    {"ZE_experimental_scheduling_hints", 2, scheduling_hints},
    {"ZE_extension_bfloat16_conversions", 5, bfloat16},
    {"ZE_extension_cache_reservation", 2, cache_reservation},
    {"ZE_extension_device_cache_line_size", 0, cache_lines},
    {"ZE_extension_device_ip_version", 0, ip_version},
    {"ZE_extension_device_memory_properties", 0, memory_kind},
    {"ZE_extension_device_usablemem_size_properties", 0, usable_memory},
    {"ZE_extension_device_vector_sizes", 13, vector_widths},
    {"ZE_extension_driver_ddi_handles", 12, ddi_handles},
    {"ZE_extension_eu_count", 0, eu_count},
    {"ZE_extension_event_query_kernel_timestamps", 6, timestamps_ext},
    {"ZE_extension_external_memmap_sysmem", 0, over_system_memory},
    {"ZE_extension_float_atomics", 0, float_atomics},
    {"ZE_extension_image_copy", 3, image_copies},
    {"ZE_extension_image_format_support", 0, image_support},
    {"ZE_extension_image_query_alloc_properties", 3, image_allocation},
    {"ZE_extension_image_view", 5, view_ext},
    {"ZE_extension_image_view_planar", 5, planar_ext},
    {"ZE_extension_ipc_mem_handle_type", 15, ipc_types},
    {"ZE_extension_kernel_max_group_size_properties", 0, group_size},
    {"ZE_extension_linkage_inspection", 3, inspection},
    {"ZE_extension_linkonce_odr", 0, once_of_two},
    {"ZE_extension_memory_compression_hints", 0, compression},
    {"ZE_extension_memory_free_policies", 3, free_policies},
    {"ZE_extension_pci_properties", 3, pci},
    {"ZE_extension_raytracing", 1, ray_tracing},
    {"ZE_extension_record_replay_graph", 17, graph},
    {"ZE_extension_relaxed_allocation_limits", 0, relaxed_ext},
    {"ZE_extension_rtas", 13, structures_ext},
    {"ZE_extension_subgroups", 0, sub_groups},
    {"ZE_extension_virtual_mem_readonly_properties", 0, read_only_pages},
    {"ZE_intel_experimental_command_list_memory_sync", 1, memory_sync},
};
enum { ROWS = sizeof rows / sizeof rows[0], NEWEST = 17 };

static void listed(const char *name, int *seen) {
  for (int i = 0; i < ROWS; ++i)
    if (!strcmp(rows[i].name, name)) {
      CHECK(!seen[i]++);
      return;
    }
  fprintf(stderr, "%s is listed, but no row proves it\n", name);
  _Exit(1);
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  int seen[ROWS] = {0};
  version = argc == 3 ? atoi(argv[2]) : NEWEST;
  folder = argv[1];
  CHECK(strchr(folder, '/'));
  char path[4096];
  snprintf(path, sizeof path, "%.*sextensions.spv", (int)(strrchr(folder, '/') + 1 - folder), folder);
  if (version < 10) {
    uint32_t one = 1;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &client.driver));
    OK(zeDeviceGet(client.driver, &one, &client.device));
  } else {
    client_driver(&client);
  }
  client_load(&client, path);
  ze_command_queue_desc_t in_order = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  in_order.mode = version >= 6 ? ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS : ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  in_order.flags = version >= 6 ? ZE_COMMAND_QUEUE_FLAG_IN_ORDER : 0;
  OK(zeCommandListCreateImmediate(client.context, client.device, &in_order, &client.list));

  static ze_driver_extension_properties_t all[256];
  static zes_driver_extension_properties_t managed[256];
  uint32_t count = 256, more = 256;
  OK(zeDriverGetExtensionProperties(client.driver, &count, all));
  CHECK(count < 256);
  for (uint32_t i = 0; i < count; ++i) listed(all[i].name, seen);
  if (version >= 8) {
    OK(zesDriverGetExtensionProperties(sysman_driver(), &more, managed));
    CHECK(more < 256);
    for (uint32_t i = 0; i < more; ++i) listed(managed[i].name, seen);
  }
  int only = 0;
  for (int i = 0; i < ROWS; ++i) {
    if (!seen[i] && (version >= 8 || strncmp(rows[i].name, "ZES_", 4))) {
      fprintf(stderr, "%s has a row, but is not listed\n", rows[i].name);
      _Exit(1);
    }
    if (rows[i].since > version) continue;
    fprintf(stderr, "%s\n", rows[i].name);
    rows[i].proof();
    ++only;
  }
  CHECK(only == ROWS || version < NEWEST);
  puts("ok");
  return 0;
}
