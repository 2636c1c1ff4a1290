// Rows of extensions.c for tools and system management; included there alone.
// --- tools ----------------------------------------------------------------------------------------------------------

static zet_metric_group_handle_t engine_group(void) {
  zet_metric_group_handle_t groups[64];
  uint32_t count = 64;
  OK(zetMetricGroupGet(client.device, &count, groups));
  for (uint32_t i = 0; i < count; ++i) {
    zet_metric_group_properties_t properties = {ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    OK(zetMetricGroupGetProperties(groups[i], &properties));
    if (!strcmp(properties.name, "EngineQuery")) return groups[i];
  }
  CHECK(!"the group is there");
  return NULL;
}

// A report about a fill.
static size_t report(zet_metric_group_handle_t group, uint8_t *raw, size_t size) {
  zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC};
  desc.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, desc.count = 1;
  zet_metric_query_pool_handle_t pool;
  zet_metric_query_handle_t query;
  OK(zetContextActivateMetricGroups(client.context, client.device, 1, &group));
  OK(zetMetricQueryPoolCreate(client.context, client.device, group, &desc, &pool));
  OK(zetMetricQueryCreate(pool, 0, &query));
  OK(zetCommandListAppendMetricQueryBegin(client.list, query));
  OK(zeCommandListAppendMemoryFill(client.list, client_shared(&client, 64), "m", 1, 64, NULL, 0, NULL));
  OK(zetCommandListAppendMetricQueryEnd(client.list, query, NULL, 0, NULL));
  finish();
  OK(zetMetricQueryGetData(query, &size, raw));
  OK(zetMetricQueryDestroy(query));
  OK(zetMetricQueryPoolDestroy(pool));
  OK(zetContextActivateMetricGroups(client.context, client.device, 0, NULL));
  return size;
}

static void multiple_metrics(void) {
  zet_metric_group_handle_t group = engine_group();
  uint8_t raw[1024];
  size_t size = report(group, raw, sizeof raw);
  uint32_t sets = 0, values = 0, counts[4], metrics = 0;
  zet_metric_group_calculation_type_t type = ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
  OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, size, raw, &sets, &values, NULL, NULL));
  OK(zetMetricGet(group, &metrics, NULL));
  CHECK(sets == 1 && values == metrics && values > 0 && values < 64);
  zet_typed_value_t all[64];
  OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, size, raw, &sets, &values, counts, all));
  CHECK(counts[0] == values);
}

static void export_data(void) {
  zet_metric_group_handle_t group = engine_group();
  uint8_t raw[1024], exported[1 << 14];
  size_t size = report(group, raw, sizeof raw), length = 0;
  OK(zetMetricGroupGetExportDataExp(group, raw, size, &length, NULL));
  CHECK(length >= size && length <= sizeof exported);
  OK(zetMetricGroupGetExportDataExp(group, raw, size, &length, exported));
  zet_metric_calculate_exp_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
  uint32_t sets = 0, values = 0;
  OK(zetMetricGroupCalculateMetricExportDataExp(client.driver, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, length,
                                                exported, &desc, &sets, &values, NULL, NULL));
  CHECK(sets == 1 && values > 0);
}

static void concurrent_groups(void) {
  zet_metric_group_handle_t group = engine_group();
  uint32_t sets = 0, counts[1];
  OK(zetDeviceGetConcurrentMetricGroupsExp(client.device, 1, &group, NULL, &sets));
  CHECK(sets == 1);
  OK(zetDeviceGetConcurrentMetricGroupsExp(client.device, 1, &group, counts, &sets));
  CHECK(counts[0] == 1);
}

static void metric_clock(void) {
  zet_metric_group_handle_t group = engine_group();
  uint64_t global[2], metric[2];
  for (int i = 0; i < 2; ++i) OK(zetMetricGroupGetGlobalTimestampsExp(group, 1, &global[i], &metric[i]));
  CHECK(global[0] && metric[0] && global[1] >= global[0] && metric[1] >= metric[0]);
}

static void metrics_switch(void) {
  OK(zetDeviceDisableMetricsExp(client.device));
  OK(zetDeviceEnableMetricsExp(client.device));
}

// --- system management ----------------------------------------------------------------------------------------------

static zes_driver_handle_t sysman_driver(void) {
  zes_driver_handle_t driver;
  uint32_t count = 1;
  OK(zesInit(0));
  OK(zesDriverGet(&count, &driver));
  CHECK(count == 1);
  return driver;
}

static zes_device_handle_t sysman_device(void) {
  zes_device_handle_t device;
  uint32_t count = 1;
  OK(zesDeviceGet(sysman_driver(), &count, &device));
  return device;
}

static void device_mapping(void) {
  zes_uuid_t uuid;
  ze_device_properties_t properties = device_with(NULL);
  memcpy(uuid.id, properties.uuid.id, sizeof uuid.id);
  zes_device_handle_t found = NULL;
  ze_bool_t on_sub = 1;
  uint32_t sub = 0;
  OK(zesDriverGetDeviceByUuidExp(sysman_driver(), uuid, &found, &on_sub, &sub));
  CHECK(found == sysman_device() && !on_sub);
  uint32_t count = 9;
  OK(zesDeviceGetSubDevicePropertiesExp(found, &count, NULL));
}

static void engine_activity(void) {
  zes_engine_handle_t engine;
  uint32_t count = 1;
  OK(zesDeviceEnumEngineGroups(sysman_device(), &count, &engine));
  CHECK(count == 1);
  count = 0;
  OK(zesEngineGetActivityExt(engine, &count, NULL));
  CHECK(count >= 1 && count <= 8);
  zes_engine_stats_t stats[8];
  OK(zesEngineGetActivityExt(engine, &count, stats));
  CHECK(stats[0].timestamp > 0);
}

// Where the machine has RAPL; elsewhere there is no domain, and the driver's own tests have a made one.
static zes_pwr_handle_t power_domain(void) {
  zes_pwr_handle_t power = NULL;
  uint32_t count = 1;
  OK(zesDeviceEnumPowerDomains(sysman_device(), &count, &power));
  CHECK((count > 0) == (power != NULL) && (!power || access("/sys/class/powercap", F_OK) == 0));
  return power;
}

static void power_domains(void) {
  zes_power_ext_properties_t ext = {ZES_STRUCTURE_TYPE_POWER_EXT_PROPERTIES};
  zes_power_properties_t properties = {ZES_STRUCTURE_TYPE_POWER_PROPERTIES, &ext};
  zes_pwr_handle_t power = power_domain();
  if (!power) return;
  OK(zesPowerGetProperties(power, &properties));
  CHECK(ext.domain != ZES_POWER_DOMAIN_UNKNOWN);
}

static void power_limits(void) {
  zes_pwr_handle_t power = power_domain();
  uint32_t count = 0;
  if (!power) return;
  ze_result_t got = zesPowerGetLimitsExt(power, &count, NULL);
  CHECK(got == ZE_RESULT_SUCCESS || got == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
        got == ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
}

static void memory_errors(void) {
  zes_ras_handle_t sets[4];
  uint32_t count = 4;
  OK(zesDeviceEnumRasErrorSets(sysman_device(), &count, sets));
  CHECK((count > 0) == (access("/sys/devices/system/edac/mc/mc0", F_OK) == 0));
  for (uint32_t i = 0; i < count; ++i) {
    zes_ras_state_exp_t states[16];
    uint32_t categories = 0;
    OK(zesRasGetStateExp(sets[i], &categories, NULL));
    CHECK(categories >= 1 && categories <= 16);
    OK(zesRasGetStateExp(sets[i], &categories, states));
    CHECK(states[0].category == ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS);
  }
}

// --- tracing --------------------------------------------------------------------------------------------------------

static void count_before(ze_device_get_properties_params_t *params, ze_result_t result, void *user, void **cell) {
  (void)result, (void)cell;
  CHECK(*params->phDevice == client.device);
  ++*(int *)user;
}

static void count_after(ze_device_get_properties_params_t *params, ze_result_t result, void *user, void **cell) {
  (void)params, (void)cell;
  CHECK(result == ZE_RESULT_SUCCESS);
  *(int *)user += 100;
}

// tracer.c asks more of it.
static void api_tracing(void) {
  int calls = 0;
  zet_tracer_exp_desc_t desc = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, NULL, &calls};
  zet_tracer_exp_handle_t tracer;
  OK(zetTracerExpCreate(client.context, &desc, &tracer));
  zet_core_callbacks_t callbacks = {0};
  callbacks.Device.pfnGetPropertiesCb = count_before;
  OK(zetTracerExpSetPrologues(tracer, &callbacks));
  callbacks.Device.pfnGetPropertiesCb = count_after;
  OK(zetTracerExpSetEpilogues(tracer, &callbacks));
  device_with(NULL);
  CHECK(calls == 0);
  OK(zetTracerExpSetEnabled(tracer, 1));
  device_with(NULL);
  CHECK(calls == 101);
  CHECK(zetTracerExpDestroy(tracer) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  OK(zetTracerExpSetEnabled(tracer, 0));
  device_with(NULL);
  CHECK(calls == 101);
  OK(zetTracerExpDestroy(tracer));
}
