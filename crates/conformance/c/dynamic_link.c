// Two modules that need each other are linked after they were created; argv[1] names kernels.spv, in the modules' folder.
#include "client.h"
#include <libgen.h>

static ze_module_handle_t module_of(struct client *client, const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  CHECK(file);
  static unsigned char bytes[1 << 16];
  ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC};
  desc.inputSize = fread(bytes, 1, sizeof bytes, file);
  desc.pInputModule = bytes;
  fclose(file);
  ze_module_handle_t module;
  OK(zeModuleCreate(client->context, client->device, &desc, &module, NULL));
  return module;
}

static int launch(struct client *client, ze_module_handle_t module, const char *name, int *out, const int *x) {
  client->module = module;
  ze_kernel_handle_t kernel = client_kernel(client, name);
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
  if (x) OK(zeKernelSetArgumentValue(kernel, 1, sizeof *x, x));
  ze_group_count_t groups = {1, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  OK(zeKernelDestroy(kernel));
  return *out;
}

static void text_of(ze_module_build_log_handle_t log, char *text, size_t room) {
  size_t size = 0;
  OK(zeModuleBuildLogGetString(log, &size, NULL));
  CHECK(size >= 1 && size <= room);
  OK(zeModuleBuildLogGetString(log, &size, text));
  OK(zeModuleBuildLogDestroy(log));
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client client;
  client_open(&client, argv[1]);
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", argv[1]);
  const char *where = dirname(folder);
  ze_module_handle_t user = module_of(&client, where, "linked_user.spv");
  ze_module_handle_t library = module_of(&client, where, "linked_library.spv");
  ze_module_properties_t properties = {ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
  OK(zeModuleGetProperties(user, &properties));
  CHECK(properties.flags == ZE_MODULE_PROPERTY_FLAG_IMPORTS);
  ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC};
  kernel_desc.pKernelName = "user";
  ze_kernel_handle_t kernel;
  CHECK(zeKernelCreate(user, &kernel_desc, &kernel) == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);

  // Linkage information, and a link with unresolved imports.
  char text[4096];
  ze_module_build_log_handle_t log;
  ze_linkage_inspection_ext_desc_t inspect = {ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC};
  inspect.flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS;
  OK(zeModuleInspectLinkageExt(&inspect, 1, &user, &log));
  text_of(log, text, sizeof text);
  CHECK(strstr(text, "twice"));
  CHECK(zeModuleDynamicLink(1, &user, &log) == ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
  text_of(log, text, sizeof text);
  CHECK(strstr(text, "twice"));
  ze_module_handle_t both[] = {user, library};
  OK(zeModuleInspectLinkageExt(&inspect, 2, both, &log));
  text_of(log, text, sizeof text);
  CHECK(text[0] == 0);

  OK(zeModuleDynamicLink(2, both, &log));
  OK(zeModuleBuildLogDestroy(log));
  OK(zeModuleGetProperties(user, &properties));
  CHECK(properties.flags == 0);
  uint32_t count = 0;
  OK(zeModuleGetKernelNames(user, &count, NULL));
  const char *name = NULL;
  CHECK(count == 1);
  OK(zeModuleGetKernelNames(user, &count, &name));
  CHECK(strcmp(name, "user") == 0);
  kernel_desc.pKernelName = "library";
  CHECK(zeKernelCreate(user, &kernel_desc, &kernel) == ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
  int *out = client_shared(&client, 4096), x = 21;
  CHECK(launch(&client, user, "user", out, &x) == 42);
  CHECK(launch(&client, user, "user", out, &x) == 42);
  // The library's variable is one for both.
  CHECK(launch(&client, library, "library", out, NULL) == 42);
  int *calls = NULL;
  OK(zeModuleGetGlobalPointer(library, "calls", NULL, (void **)&calls));
  *calls = 7;
  CHECK(launch(&client, library, "library", out, NULL) == 7);
  OK(zeModuleDynamicLink(2, both, NULL));
  OK(zeModuleDestroy(library));
  CHECK(launch(&client, user, "user", out, &x) == 42);
  puts("ok");
  return 0;
}
