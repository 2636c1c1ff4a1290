// Acceleration structures by both forms of the extension, alone and by threads, and rays against all triangles.
#include <math.h>
#include <pthread.h>

#include "client.h"

typedef struct { float origin[3], nearest, direction[3], farthest; uint32_t mask, reserved; } solum_ray_t;
typedef struct { float distance, u, v; uint32_t geometry, primitive, instance; } solum_hit_t;
typedef float (*solum_procedural_t)(void *, uint32_t, uint32_t, const solum_ray_t *);
typedef ze_result_t (*intersect_t)(const void *, const solum_ray_t *, solum_procedural_t, void *, solum_hit_t *);
static intersect_t intersect;

enum { TRIANGLES = 3000, BOXES = 7 };
static float vertices[TRIANGLES * 3][3];
static uint32_t indices[TRIANGLES][3];

static float number(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (float)(1 << 24);
}

static int meets(const solum_ray_t *ray, const uint32_t *index, double *distance) {
  double e1[3], e2[3], s[3], p[3], q[3];
  const float *a = vertices[index[0]], *b = vertices[index[1]], *c = vertices[index[2]], *d = ray->direction;
  for (int i = 0; i < 3; ++i) e1[i] = b[i] - a[i], e2[i] = c[i] - a[i], s[i] = ray->origin[i] - a[i];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    p[i] = d[j] * e2[k] - d[k] * e2[j];
    q[i] = s[j] * e1[k] - s[k] * e1[j];
  }
  double det = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2];
  double u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
  double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
  *distance = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
  return u >= 0 && v >= 0 && u + v <= 1 && *distance >= 0;
}

static void shoot_at(const void *rtas, float moved, uint32_t instance) {
  int met = 0;
  for (int round = 0; round < 200; ++round) {
    solum_ray_t ray = {.farthest = INFINITY, .mask = 0xff};
    for (int i = 0; i < 3; ++i) ray.origin[i] = number() * 10 - 5, ray.direction[i] = number() - 0.5f;
    double best = INFINITY, distance;
    uint32_t which = UINT32_MAX;
    for (uint32_t t = 0; t < TRIANGLES; ++t)
      if (meets(&ray, indices[t], &distance) && distance < best) best = distance, which = t;
    ray.origin[0] += moved;
    solum_hit_t hit;
    OK(intersect(rtas, &ray, NULL, NULL, &hit));
    CHECK((hit.geometry == UINT32_MAX) == (which == UINT32_MAX));
    if (which == UINT32_MAX) continue;
    ++met;
    CHECK(hit.instance == instance);
    CHECK(fabs(hit.distance - best) < 1e-3 * (1 + best));
  }
  CHECK(met > 20);
}

static float middle(void *user, uint32_t geometry, uint32_t primitive, const solum_ray_t *ray) {
  ++*(int *)user;
  return geometry == 2 ? ((float)primitive * 3 + 0.5f - ray->origin[0]) / ray->direction[0] : -1;
}

// All of one form: X is Ext or Exp, low is ext or exp, S is EXT or EXP.
#define FORM(X, low, S)                                                                                                  \
  static void boxes_##low(ze_rtas_geometry_aabbs_##low##_cb_params_t *params) {                                            \
    CHECK(params->stype == ZE_STRUCTURE_TYPE_RTAS_GEOMETRY_AABBS_##S##_CB_PARAMS);                                     \
    CHECK(*(int *)params->pGeomUserPtr == 11 && *(int *)params->pBuildUserPtr == 22);                                  \
    for (uint32_t i = 0; i < params->primIDCount; ++i) {                                                               \
      float at = (float)(params->primID + i) * 3;                                                                      \
      ze_rtas_aabb_##low##_t box = {{at, 20, 0}, {at + 1, 21, 1}};                                                       \
      params->pBoundsOut[i] = box;                                                                                     \
    }                                                                                                                  \
  }                                                                                                                    \
  static void *join_##low(void *operation) {                                                                             \
    return (void *)(uintptr_t)zeRTASParallelOperationJoin##X((ze_rtas_parallel_operation_##low##_handle_t)operation);    \
  }                                                                                                                    \
  static void form_##low(struct client *client, int copy) {                                                              \
    ze_rtas_device_##low##_properties_t device = {ZE_STRUCTURE_TYPE_RTAS_DEVICE_##S##_PROPERTIES};                       \
    ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, &device};                                \
    OK(zeDeviceGetProperties(client->device, &properties));                                                            \
    CHECK(device.rtasFormat != ZE_RTAS_FORMAT_##S##_INVALID && device.rtasBufferAlignment > 0);                        \
    OK(zeDriverRTASFormatCompatibilityCheck##X(client->driver, device.rtasFormat, device.rtasFormat));                 \
    CHECK(zeDriverRTASFormatCompatibilityCheck##X(client->driver, device.rtasFormat, 1) ==                             \
          ZE_RESULT_##S##_ERROR_OPERANDS_INCOMPATIBLE);                                                                \
    /* The version before this one is another format. */                                                               \
    CHECK(zeDriverRTASFormatCompatibilityCheck##X(client->driver, device.rtasFormat, device.rtasFormat - 1) ==         \
          ZE_RESULT_##S##_ERROR_OPERANDS_INCOMPATIBLE);                                                                \
    ze_rtas_builder_##low##_desc_t desc = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_##S##_DESC};                                   \
    ze_rtas_builder_##low##_handle_t builder;                                                                            \
    CHECK(zeRTASBuilderCreate##X(client->driver, &desc, &builder) == ZE_RESULT_ERROR_UNSUPPORTED_VERSION);             \
    desc.builderVersion = ZE_RTAS_BUILDER_##S##_VERSION_CURRENT;                                                       \
    OK(zeRTASBuilderCreate##X(client->driver, &desc, &builder));                                                       \
    ze_rtas_builder_triangles_geometry_info_##low##_t mesh = {0};                                                        \
    mesh.geometryType = ZE_RTAS_BUILDER_GEOMETRY_TYPE_##S##_TRIANGLES;                                                 \
    mesh.geometryMask = 0xff;                                                                                          \
    mesh.triangleFormat = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_##S##_TRIANGLE_INDICES_UINT32;                             \
    mesh.vertexFormat = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_##S##_FLOAT3;                                                \
    mesh.triangleCount = TRIANGLES, mesh.vertexCount = TRIANGLES * 3;                                                  \
    mesh.triangleStride = 12, mesh.vertexStride = 12;                                                                  \
    mesh.pTriangleBuffer = indices, mesh.pVertexBuffer = vertices;                                                     \
    int geometry_user = 11, build_user = 22, asked = 0;                                                                \
    ze_rtas_builder_procedural_geometry_info_##low##_t boxes = {0};                                                      \
    boxes.geometryType = ZE_RTAS_BUILDER_GEOMETRY_TYPE_##S##_PROCEDURAL;                                               \
    boxes.geometryMask = 1, boxes.primCount = BOXES;                                                                   \
    boxes.pfnGetBoundsCb = boxes_##low, boxes.pGeomUserPtr = &geometry_user;                                             \
    const ze_rtas_builder_geometry_info_##low##_t *geometries[3] = {(const void *)&mesh, NULL, (const void *)&boxes};    \
    ze_rtas_builder_build_op_##low##_desc_t op = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_BUILD_OP_##S##_DESC};                   \
    op.rtasFormat = device.rtasFormat, op.ppGeometries = geometries, op.numGeometries = 3;                             \
    ze_rtas_builder_##low##_properties_t sizes = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_##S##_PROPERTIES};                      \
    OK(zeRTASBuilderGetBuildProperties##X(builder, &op, &sizes));                                                      \
    CHECK(sizes.rtasBufferSizeBytesExpected <= sizes.rtasBufferSizeBytesMaxRequired);                                  \
    void *scratch = malloc(sizes.scratchBufferSizeBytes), *rtas = client_shared(client, sizes.rtasBufferSizeBytesMaxRequired); \
    ze_rtas_aabb_##low##_t bounds;                                                                                       \
    size_t size = 0;                                                                                                   \
    CHECK(zeRTASBuilderBuild##X(builder, &op, scratch, sizes.scratchBufferSizeBytes, rtas, 4096, NULL, &build_user,    \
                                &bounds, &size) == ZE_RESULT_##S##_RTAS_BUILD_RETRY);                                  \
    CHECK(size > 4096 && size <= sizes.rtasBufferSizeBytesMaxRequired);                                                \
    OK(zeRTASBuilderBuild##X(builder, &op, scratch, sizes.scratchBufferSizeBytes, rtas, size, NULL, &build_user,       \
                             &bounds, &size));                                                                         \
    CHECK(bounds.upper.x >= (BOXES - 1) * 3 + 1 && bounds.upper.y == 21 && bounds.lower.x < 0);                        \
    shoot_at(rtas, 0, UINT32_MAX);                                                                                     \
    solum_ray_t ray = {{-50, 20.5f, 0.5f}, 0, {1, 0, 0}, INFINITY, 1, 0};                                              \
    solum_hit_t hit;                                                                                                   \
    OK(intersect(rtas, &ray, middle, &asked, &hit));                                                                   \
    CHECK(asked > 0 && hit.geometry == 2 && hit.primitive == 0 && fabs(hit.distance - 50.5) < 1e-4);                   \
    ray.mask = 2;                                                                                                      \
    OK(intersect(rtas, &ray, middle, &asked, &hit));                                                                   \
    CHECK(hit.geometry == UINT32_MAX);                                                                                 \
    /* By threads. */                                                                                                  \
    ze_rtas_parallel_operation_##low##_handle_t parallel;                                                                \
    OK(zeRTASParallelOperationCreate##X(client->driver, &parallel));                                                   \
    ze_rtas_parallel_operation_##low##_properties_t concurrency = {                                                      \
        ZE_STRUCTURE_TYPE_RTAS_PARALLEL_OPERATION_##S##_PROPERTIES};                                                   \
    CHECK(zeRTASParallelOperationGetProperties##X(parallel, &concurrency) == ZE_RESULT_ERROR_INVALID_ARGUMENT);        \
    for (int round = 0; round < 20; ++round) {                                                                         \
      memset(rtas, 0, size);                                                                                           \
      size = 0;                                                                                                        \
      CHECK(zeRTASBuilderBuild##X(builder, &op, scratch, sizes.scratchBufferSizeBytes, rtas,                           \
                                  sizes.rtasBufferSizeBytesMaxRequired, parallel, &build_user, &bounds, &size) ==      \
            ZE_RESULT_##S##_RTAS_BUILD_DEFERRED);                                                                      \
      CHECK(zeRTASBuilderBuild##X(builder, &op, scratch, sizes.scratchBufferSizeBytes, rtas,                           \
                                  sizes.rtasBufferSizeBytesMaxRequired, parallel, &build_user, &bounds, &size) ==      \
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);                                                                     \
      OK(zeRTASParallelOperationGetProperties##X(parallel, &concurrency));                                             \
      CHECK(concurrency.maxConcurrency >= 1);                                                                          \
      /* One that comes when all is over gets the same. */                                                             \
      pthread_t thread;                                                                                                \
      CHECK(!pthread_create(&thread, NULL, join_##low, parallel));                                                       \
      void *late, *mine = join_##low(parallel);                                                                          \
      CHECK(!pthread_join(thread, &late));                                                                             \
      CHECK(mine == NULL && late == NULL);                                                                             \
      CHECK(size > 0);                                                                                                 \
    }                                                                                                                  \
    shoot_at(rtas, 0, UINT32_MAX);                                                                                     \
    /* An instance of it, moved. */                                                                                    \
    void *inner = rtas;                                                                                                \
    if (copy) {                                                                                                        \
      inner = client_shared(client, size);                                                                             \
      OK(zeRTASBuilderCommandListAppendCopyExt(client->list, inner, rtas, size, NULL, 0, NULL));                       \
      OK(zeCommandListHostSynchronize(client->list, UINT64_MAX));                                                      \
    }                                                                                                                  \
    ze_rtas_transform_float3x4_row_major_##low##_t transform = {1, 0, 0, 500, 0, 1, 0, 0, 0, 0, 1, 0};                   \
    ze_rtas_builder_instance_geometry_info_##low##_t instance = {0};                                                     \
    instance.geometryType = ZE_RTAS_BUILDER_GEOMETRY_TYPE_##S##_INSTANCE;                                              \
    instance.geometryMask = 0xff, instance.instanceUserID = 77;                                                        \
    instance.transformFormat = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_##S##_FLOAT3X4_ROW_MAJOR;                             \
    instance.pTransform = &transform, instance.pBounds = &bounds, instance.pAccelerationStructure = inner;             \
    geometries[0] = (const void *)&instance;                                                                           \
    op.numGeometries = 1;                                                                                              \
    OK(zeRTASBuilderGetBuildProperties##X(builder, &op, &sizes));                                                      \
    void *outer = malloc(sizes.rtasBufferSizeBytesMaxRequired);                                                        \
    OK(zeRTASBuilderBuild##X(builder, &op, scratch, sizes.scratchBufferSizeBytes, outer,                               \
                             sizes.rtasBufferSizeBytesMaxRequired, NULL, NULL, NULL, NULL));                           \
    shoot_at(outer, 500, 77);                                                                                          \
    op.rtasFormat = 3;                                                                                                 \
    CHECK(zeRTASBuilderGetBuildProperties##X(builder, &op, &sizes) == ZE_RESULT_ERROR_INVALID_ENUMERATION);            \
    op.rtasFormat = device.rtasFormat - 1;                                                                             \
    CHECK(zeRTASBuilderGetBuildProperties##X(builder, &op, &sizes) == ZE_RESULT_ERROR_INVALID_ENUMERATION);            \
    ((char *)outer)[7] = '1';                                                                                          \
    CHECK(intersect(outer, &ray, NULL, NULL, &hit) == ZE_RESULT_ERROR_INVALID_ARGUMENT);                               \
    OK(zeRTASParallelOperationDestroy##X(parallel));                                                                   \
    OK(zeRTASBuilderDestroy##X(builder));                                                                              \
  }

FORM(Ext, ext, EXT)
FORM(Exp, exp, EXP)

int main(int argc, char **argv) {
  CHECK(argc == 2);
  struct client client;
  client_open(&client, argv[1]);
  OK(zeDriverGetExtensionFunctionAddress(client.driver, "zeSolumRTASIntersect", (void **)&intersect));
  for (uint32_t t = 0; t < TRIANGLES; ++t) {
    float at[3] = {number() * 10 - 5, number() * 10 - 5, number() * 10 - 5};
    for (uint32_t corner = 0; corner < 3; ++corner) {
      indices[t][corner] = t * 3 + corner;
      for (int i = 0; i < 3; ++i) vertices[t * 3 + corner][i] = at[i] + number() * 0.8f;
    }
  }
  form_ext(&client, 1);
  form_exp(&client, 0);
  CHECK(intersect("no structure, but bytes enough", &(solum_ray_t){.mask = 1}, NULL, NULL, &(solum_hit_t){0}) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
  puts("ok");
  return 0;
}
