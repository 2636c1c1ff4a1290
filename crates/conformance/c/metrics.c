// Counters around commands of known size, and at intervals while a kernel runs.
#include <level_zero/zet_api.h>

#include "client.h"

enum { MOST = 64 };

static zet_metric_group_handle_t group(ze_device_handle_t device, const char *name) {
  zet_metric_group_handle_t groups[MOST];
  uint32_t count = MOST;
  OK(zetMetricGroupGet(device, &count, groups));
  for (uint32_t i = 0; i < count; ++i) {
    zet_metric_group_properties_t properties = {ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    OK(zetMetricGroupGetProperties(groups[i], &properties));
    if (!strcmp(properties.name, name)) return groups[i];
  }
  return NULL;
}

static zet_typed_value_t value(zet_metric_group_handle_t group, const uint8_t *raw, size_t size, uint32_t report,
                               const char *name) {
  zet_metric_handle_t metrics[MOST];
  uint32_t count = MOST, values_count = 0;
  OK(zetMetricGet(group, &count, metrics));
  OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw,
                                         &values_count, NULL));
  zet_typed_value_t *values = malloc(values_count * sizeof *values), found;
  OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw,
                                         &values_count, values));
  for (uint32_t i = 0; i < count; ++i) {
    zet_metric_properties_t properties = {ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    OK(zetMetricGetProperties(metrics[i], &properties));
    if (!strcmp(properties.name, name)) {
      found = values[report * count + i];
      CHECK(found.type == properties.resultType);
      free(values);
      return found;
    }
  }
  CHECK(!"the metric is there");
  _Exit(1);
}

static void queries(struct client *client) {
  zet_metric_group_handle_t engine = group(client->device, "EngineQuery");
  CHECK(engine);
  zet_metric_query_pool_desc_t pool_desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC};
  pool_desc.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
  pool_desc.count = 2;
  zet_metric_query_pool_handle_t pool;
  OK(zetMetricQueryPoolCreate(client->context, client->device, engine, &pool_desc, &pool));
  zet_metric_query_handle_t query;
  CHECK(zetMetricQueryCreate(pool, 2, &query) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  OK(zetMetricQueryCreate(pool, 1, &query));
  CHECK(zetCommandListAppendMetricQueryBegin(client->list, query) == ZE_RESULT_ERROR_NOT_AVAILABLE);
  OK(zetContextActivateMetricGroups(client->context, client->device, 1, &engine));
  size_t size = 0;
  CHECK(zetMetricQueryGetData(query, &size, NULL) == ZE_RESULT_NOT_READY);

  uint32_t n = 64 * 1000;
  float *a = client_shared(client, n * 4), *b = client_shared(client, n * 4), *c = client_shared(client, n * 4);
  ze_kernel_handle_t kernel = client_kernel(client, "add");
  OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof a, &a));
  OK(zeKernelSetArgumentValue(kernel, 1, sizeof b, &b));
  OK(zeKernelSetArgumentValue(kernel, 2, sizeof c, &c));
  OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
  ze_group_count_t groups = {1000, 1, 1};
  for (int round = 0; round < 50; ++round) {
    // Work outside the two does not count.
    OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
    OK(zetCommandListAppendMetricQueryBegin(client->list, query));
    for (int launch = 0; launch < 3; ++launch)
      OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(client->list, c, a, n * 4, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryFill(client->list, b, "x", 1, 777, NULL, 0, NULL));
    OK(zetCommandListAppendMetricQueryEnd(client->list, query, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchKernel(client->list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
    OK(zetMetricQueryGetData(query, &size, NULL));
    uint8_t raw[1024];
    CHECK(size <= sizeof raw);
    OK(zetMetricQueryGetData(query, &size, raw));
    CHECK(value(engine, raw, size, 0, "Kernels").value.ui64 == 3);
    CHECK(value(engine, raw, size, 0, "WorkGroups").value.ui64 == 3000);
    CHECK(value(engine, raw, size, 0, "BytesMoved").value.ui64 == n * 4 + 777);
    uint64_t time = value(engine, raw, size, 0, "Time").value.ui64;
    uint64_t compute = value(engine, raw, size, 0, "ComputeTime").value.ui64;
    CHECK(time > 0 && compute > 0);
    double busy = value(engine, raw, size, 0, "ComputeBusy").value.fp64;
    CHECK(busy > 0 && busy <= 100);
    CHECK(zetMetricGroupCalculateMetricValues(engine, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size - 8, raw,
                                              &(uint32_t){0}, NULL) == ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zetMetricQueryReset(query));
    CHECK(zetMetricQueryGetData(query, &size, NULL) == ZE_RESULT_NOT_READY);
  }
  CHECK(zetDeviceDisableMetricsExp(client->device) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  OK(zetContextActivateMetricGroups(client->context, client->device, 0, NULL));
  OK(zetDeviceDisableMetricsExp(client->device));
  OK(zetDeviceEnableMetricsExp(client->device));
  OK(zetMetricQueryDestroy(query));
  OK(zetMetricQueryPoolDestroy(pool));
}

enum { PERIOD = 5000000 };

struct reports {
  uint32_t reports, markers;
  uint64_t compute, last;
  // Of reports that end with a marker, the last ones: the next one continues to the end of the period.
  uint64_t part;
};

// Adds the reports that wait for the reader, if any.
static void read_reports(zet_metric_group_handle_t engine, zet_metric_streamer_handle_t streamer,
                         struct reports *seen) {
  size_t size = 0;
  OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, NULL));
  if (size == 0) return;
  uint8_t *raw = malloc(size);
  OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
  uint32_t values = 0, metrics = 0;
  OK(zetMetricGroupCalculateMetricValues(engine, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &values,
                                         NULL));
  OK(zetMetricGet(engine, &metrics, NULL));
  for (uint32_t i = 0; i < values / metrics; ++i) {
    uint64_t time = value(engine, raw, size, i, "ReportTime").value.ui64;
    CHECK(time > seen->last);
    seen->last = time;
    seen->compute += value(engine, raw, size, i, "ComputeTime").value.ui64;
    uint64_t marker = value(engine, raw, size, i, "StreamMarker").value.ui64;
    CHECK(marker == 0 || marker == 4711);
    // Each period has its report, however late the thread was that reads the counters.
    seen->part += value(engine, raw, size, i, "Time").value.ui64;
    CHECK(marker ? seen->part < PERIOD : seen->part == PERIOD);
    if (!marker) seen->part = 0;
    seen->markers += marker != 0;
    seen->reports += 1;
  }
  free(raw);
}

static void streams(struct client *client) {
  zet_metric_group_handle_t engine = group(client->device, "EngineStream");
  CHECK(engine);
  ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
  pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  pool_desc.count = 1;
  ze_event_pool_handle_t pool;
  OK(zeEventPoolCreate(client->context, &pool_desc, 0, NULL, &pool));
  ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
  ze_event_handle_t event;
  OK(zeEventCreate(pool, &event_desc, &event));
  zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC};
  desc.notifyEveryNReports = 10;
  desc.samplingPeriod = 1;
  zet_metric_streamer_handle_t streamer;
  CHECK(zetMetricStreamerOpen(client->context, client->device, engine, &desc, event, &streamer) ==
        ZE_RESULT_ERROR_NOT_AVAILABLE);
  OK(zetContextActivateMetricGroups(client->context, client->device, 1, &engine));
  OK(zetMetricStreamerOpen(client->context, client->device, engine, &desc, NULL, &streamer));
  CHECK(desc.samplingPeriod > 1);  // the possible minimum
  OK(zetMetricStreamerClose(streamer));
  // At this period waiting reports are not dropped for a minute, even if the reader is late.
  desc.samplingPeriod = PERIOD;
  OK(zetMetricStreamerOpen(client->context, client->device, engine, &desc, event, &streamer));
  CHECK(desc.samplingPeriod == PERIOD);
  volatile uint32_t *stop = client_spin(client);
  OK(zetCommandListAppendMetricStreamerMarker(client->list, streamer, 4711));
  // Ten reports wait when the event is signalled; time in the kernel is counted while it runs, whenever it began.
  OK(zeEventHostSynchronize(event, UINT64_MAX));
  struct reports seen = {0};
  read_reports(engine, streamer, &seen);
  CHECK(seen.reports >= 10);
  while (seen.compute <= 500000) read_reports(engine, streamer, &seen);
  CHECK(seen.markers == 0);  // that command waits for the kernel
  *stop = 1;
  OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));
  read_reports(engine, streamer, &seen);
  CHECK(seen.markers == 1);
  OK(zetMetricStreamerClose(streamer));
  OK(zetContextActivateMetricGroups(client->context, client->device, 0, NULL));
  OK(zeEventDestroy(event));
  OK(zeEventPoolDestroy(pool));
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client client;
  client_open(&client, argv[1]);
  // Appends in order, so that commands follow each other.
  ze_command_queue_desc_t queue_desc = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  queue_desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  queue_desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  OK(zeCommandListCreateImmediate(client.context, client.device, &queue_desc, &client.list));
  queries(&client);
  streams(&client);
  zet_metric_group_handle_t both[2] = {group(client.device, "EngineQuery"), group(client.device, "EngineStream")};
  CHECK(zetContextActivateMetricGroups(client.context, client.device, 2, both) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  uint32_t sets = 0, counts[2];
  OK(zetDeviceGetConcurrentMetricGroupsExp(client.device, 2, both, NULL, &sets));
  CHECK(sets == 2);
  OK(zetDeviceGetConcurrentMetricGroupsExp(client.device, 2, both, counts, &sets));
  CHECK(counts[0] == 1 && counts[1] == 1);
  size_t size = 9;
  OK(zetModuleGetDebugInfo(client.module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, NULL));
  CHECK(size == 0);
  CHECK(zetDebugAttach(client.device, NULL, NULL) != ZE_RESULT_SUCCESS);
  puts("ok");
  return 0;
}
