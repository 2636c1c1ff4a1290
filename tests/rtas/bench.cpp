// Acceleration structures: how long the driver's builder takes and how many rays one thread asks a second, over the
// standard API, beside Embree where the program is compiled with it (-DEMBREE=MAJOR). Two scenes: a wavy sheet, whose
// triangles are neighbours, and triangles strewn at random. Both sides build on all cores; ours and the peer alternate.
//
// bench [--json] [--cpu] [--exact] [--runs=N] [CASE...]: cases are build-SCENE-TRIANGLES and rays-SCENE-TRIANGLES; a word
// matches as prefix, with --exact as a whole. With --cpu times are those of all threads' processors together, for machines that do other things too.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <level_zero/ze_api.h>

#if EMBREE == 4
#include <embree4/rtcore.h>
#elif EMBREE == 3
#include <embree3/rtcore.h>
#endif

#define OK(call)                                                                         \
  do {                                                                                   \
    ze_result_t result_ = (call);                                                        \
    if (result_ != ZE_RESULT_SUCCESS) {                                                  \
      std::fprintf(stderr, "bench: rtas: %s returned %#x\n", #call, (unsigned)result_);  \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

struct Point {
  float x, y, z;
};

struct SolumRay {
  float origin[3], nearest, direction[3], farthest;
  uint32_t mask, reserved;
};
struct SolumHit {
  float distance, u, v;
  uint32_t geometry, primitive, instance;
};
using Intersect = ze_result_t (*)(const void *, const SolumRay *, void *, void *, SolumHit *);

static float number() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (float)(state >> 40) / (float)(1 << 24);
}

// --- scenes -----------------------------------------------------------------------------------------------------------

struct Scene {
  std::vector<Point> vertices;
  std::vector<uint32_t> indices;
  std::vector<SolumRay> rays;
  uint32_t triangles() const { return (uint32_t)indices.size() / 3; }
};

static Scene sheet(uint32_t triangles) {
  Scene scene;
  auto side = (uint32_t)std::lround(std::sqrt(triangles / 2.0));
  for (uint32_t j = 0; j <= side; ++j)
    for (uint32_t i = 0; i <= side; ++i) {
      float x = (float)i / (float)side, y = (float)j / (float)side;
      scene.vertices.push_back({x, y, 0.1f * std::sin(20 * x) * std::cos(20 * y)});
    }
  for (uint32_t j = 0; j < side; ++j)
    for (uint32_t i = 0; i < side; ++i) {
      uint32_t a = j * (side + 1) + i, b = a + 1, c = a + side + 1, d = c + 1;
      scene.indices.insert(scene.indices.end(), {a, b, c, d, b, c});
    }
  return scene;
}

static Scene soup(uint32_t triangles) {
  Scene scene;
  float size = 1 / std::cbrt((float)triangles);
  for (uint32_t i = 0; i < triangles; ++i) {
    Point at = {number(), number(), number()};
    for (int corner = 0; corner < 3; ++corner) {
      scene.indices.push_back((uint32_t)scene.vertices.size());
      scene.vertices.push_back({at.x + size * number(), at.y + size * number(), at.z + size * number()});
    }
  }
  return scene;
}

// From points above the scene to points in it, in no order.
static void add_rays(Scene &scene, int count) {
  for (int i = 0; i < count; ++i) {
    SolumRay ray = {{number(), number(), 1.5f}, 0, {0, 0, 0}, INFINITY, 0xff, 0};
    float to[3] = {number(), number(), 0};
    for (int axis = 0; axis < 3; ++axis) ray.direction[axis] = to[axis] - ray.origin[axis];
    scene.rays.push_back(ray);
  }
}

static clockid_t clock_used = CLOCK_MONOTONIC;

static double now() {
  timespec time;
  clock_gettime(clock_used, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds(const std::function<void()> &work) {
  double began = now();
  work();
  return now() - began;
}

// --- ours -------------------------------------------------------------------------------------------------------------

struct Ours {
  ze_driver_handle_t driver = nullptr;
  ze_rtas_builder_ext_handle_t builder = nullptr;
  ze_rtas_device_ext_properties_t device = {ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXT_PROPERTIES};
  Intersect intersect = nullptr;
  std::vector<uint8_t> memory;
  uint8_t *rtas = nullptr;

  Ours() {
    uint32_t one = 1;
    ze_init_driver_type_desc_t types = {ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC};
    types.flags = UINT32_MAX;
    OK(zeInitDrivers(&one, &driver, &types));
    ze_device_handle_t handle;
    OK(zeDeviceGet(driver, &one, &handle));
    ze_device_properties_t properties = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, &device};
    OK(zeDeviceGetProperties(handle, &properties));
    ze_rtas_builder_ext_desc_t desc = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_EXT_DESC};
    desc.builderVersion = ZE_RTAS_BUILDER_EXT_VERSION_CURRENT;
    OK(zeRTASBuilderCreateExt(driver, &desc, &builder));
    void *address = nullptr;
    OK(zeDriverGetExtensionFunctionAddress(driver, "zeSolumRTASIntersect", &address));
    std::memcpy(&intersect, &address, sizeof address);
  }

  double build(const Scene &scene) {
    ze_rtas_builder_triangles_geometry_info_ext_t mesh = {};
    mesh.geometryType = (ze_rtas_builder_packed_geometry_type_ext_t)ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_TRIANGLES;
    mesh.geometryMask = 0xff;
    mesh.triangleFormat =
        (ze_rtas_builder_packed_input_data_format_ext_t)ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_TRIANGLE_INDICES_UINT32;
    mesh.vertexFormat = (ze_rtas_builder_packed_input_data_format_ext_t)ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_FLOAT3;
    mesh.triangleCount = scene.triangles(), mesh.vertexCount = (uint32_t)scene.vertices.size();
    mesh.triangleStride = 12, mesh.vertexStride = 12;
    mesh.pTriangleBuffer = (ze_rtas_triangle_indices_uint32_ext_t *)scene.indices.data();
    mesh.pVertexBuffer = (ze_rtas_float3_ext_t *)scene.vertices.data();
    const ze_rtas_builder_geometry_info_ext_t *geometry = (const ze_rtas_builder_geometry_info_ext_t *)&mesh;
    ze_rtas_builder_build_op_ext_desc_t op = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_BUILD_OP_EXT_DESC};
    op.rtasFormat = device.rtasFormat, op.ppGeometries = &geometry, op.numGeometries = 1;
    ze_rtas_builder_ext_properties_t sizes = {ZE_STRUCTURE_TYPE_RTAS_BUILDER_EXT_PROPERTIES};
    OK(zeRTASBuilderGetBuildPropertiesExt(builder, &op, &sizes));
    std::vector<uint8_t> scratch(sizes.scratchBufferSizeBytes);
    size_t alignment = device.rtasBufferAlignment, size = sizes.rtasBufferSizeBytesMaxRequired;
    if (memory.size() < size + alignment) memory.resize(size + alignment);
    rtas = memory.data() + (alignment - (uintptr_t)memory.data() % alignment) % alignment;
    return seconds([&] {
      ze_rtas_parallel_operation_ext_handle_t parallel;
      OK(zeRTASParallelOperationCreateExt(driver, &parallel));
      ze_result_t begun = zeRTASBuilderBuildExt(builder, &op, scratch.data(), scratch.size(), rtas, size, parallel,
                                                nullptr, nullptr, nullptr);
      if (begun != ZE_RESULT_EXT_RTAS_BUILD_DEFERRED) OK(begun);
      ze_rtas_parallel_operation_ext_properties_t can = {ZE_STRUCTURE_TYPE_RTAS_PARALLEL_OPERATION_EXT_PROPERTIES};
      OK(zeRTASParallelOperationGetPropertiesExt(parallel, &can));
      auto join = [&] { OK(zeRTASParallelOperationJoinExt(parallel)); };
      std::vector<std::thread> others;
      for (uint32_t i = 1; i < std::min(can.maxConcurrency, std::thread::hardware_concurrency()); ++i)
        others.emplace_back(join);
      join();
      for (auto &thread : others) thread.join();
      OK(zeRTASParallelOperationDestroyExt(parallel));
    });
  }

  double rays(const Scene &scene, std::vector<float> &distances) {
    return seconds([&] {
      for (size_t i = 0; i < scene.rays.size(); ++i) {
        SolumHit hit;
        OK(intersect(rtas, &scene.rays[i], nullptr, nullptr, &hit));
        distances[i] = hit.distance;
      }
    });
  }
};

// --- the peer ---------------------------------------------------------------------------------------------------------

#ifdef EMBREE
struct Peer {
  RTCDevice device = rtcNewDevice(nullptr);
  RTCScene made = nullptr;

  // With another library under that name nothing is compared.
  Peer() {
    Dl_info file = {};
    dladdr((void *)&rtcNewDevice, &file);
    auto major = device ? rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_MAJOR) : 0;
    if (major == EMBREE && file.dli_fname && std::strstr(file.dli_fname, "libembree")) return;
    std::fprintf(stderr, "bench: rtas: %s is not Embree %d, which this program is made for: nothing is compared\n",
                 file.dli_fname ? file.dli_fname : "the program itself", EMBREE);
    std::exit(1);
  }

  double build(const Scene &scene) {
    if (made) rtcReleaseScene(made);
    made = rtcNewScene(device);
    RTCGeometry mesh = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto share = [&](RTCBufferType type, RTCFormat format, const void *data, size_t count) {
      rtcSetSharedGeometryBuffer(mesh, type, 0, format, data, 0, 12, count);
    };
    share(RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, scene.vertices.data(), scene.vertices.size());
    share(RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, scene.indices.data(), scene.triangles());
    rtcCommitGeometry(mesh);
    rtcAttachGeometry(made, mesh);
    rtcReleaseGeometry(mesh);
    return seconds([&] { rtcCommitScene(made); });
  }

  double rays(const Scene &scene, std::vector<float> &distances) {
    return seconds([&] {
      for (size_t i = 0; i < scene.rays.size(); ++i) {
        const SolumRay &from = scene.rays[i];
        RTCRayHit ray = {};
        ray.ray.org_x = from.origin[0], ray.ray.org_y = from.origin[1], ray.ray.org_z = from.origin[2];
        ray.ray.dir_x = from.direction[0], ray.ray.dir_y = from.direction[1], ray.ray.dir_z = from.direction[2];
        ray.ray.tnear = from.nearest, ray.ray.tfar = from.farthest, ray.ray.mask = 0xff;
        ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
#if EMBREE == 4
        rtcIntersect1(made, &ray);
#else
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        rtcIntersect1(made, &context, &ray);
#endif
        distances[i] = ray.ray.tfar;
      }
    });
  }
};
#endif

// --- output -----------------------------------------------------------------------------------------------------------

static bool json;

// `more` of the unit is better.
static void row(const std::string &name, const char *unit, bool more, std::vector<double> ours, std::vector<double> peer) {
  auto best = [&](std::vector<double> &all) {
    std::sort(all.begin(), all.end());
    return more ? all.back() : all.front();
  };
  double value = best(ours), other = peer.empty() ? 0 : best(peer);
  double ratio = peer.empty() ? 0 : more ? value / other : other / value;
  double median = ours[ours.size() / 2];
  if (json && !peer.empty())
    std::printf("{\"bench\":\"rtas\",\"case\":\"%s\",\"unit\":\"%s\",\"ours\":%.6g,\"peer\":\"embree\",\"peer_value\":%.6g,"
                "\"ratio\":%.4g,\"min\":%.6g,\"median\":%.6g,\"runs\":%zu}\n",
                name.c_str(), unit, value, other, ratio, ours.front(), median, ours.size());
  else if (json)
    std::printf("{\"bench\":\"rtas\",\"case\":\"%s\",\"unit\":\"%s\",\"ours\":%.6g,\"peer\":null,\"peer_value\":null,"
                "\"ratio\":null,\"min\":%.6g,\"median\":%.6g,\"runs\":%zu}\n",
                name.c_str(), unit, value, ours.front(), median, ours.size());
  else if (!peer.empty())
    std::printf("%-8s %-28s %12.3f %-6s %10s %12.3f  ratio %7.2f   median %12.3f  %zu runs\n", "rtas", name.c_str(), value,
                unit, "embree", other, ratio, median, ours.size());
  else
    std::printf("%-8s %-28s %12.3f %-6s %10s %12s  ratio %7s   median %12.3f  %zu runs\n", "rtas", name.c_str(), value,
                unit, "none", "-", "-", median, ours.size());
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  int runs = 9;
  bool exact = false;
  std::vector<std::string> cases;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--json") json = true;
    else if (word == "--exact") exact = true;
    else if (word == "--cpu") clock_used = CLOCK_PROCESS_CPUTIME_ID;
    else if (word.rfind("--runs=", 0) == 0) runs = std::atoi(word.c_str() + 7);
    else cases.push_back(word);
  }
  if (runs < 1 || runs > 1000) {
    std::fprintf(stderr, "bench: --runs=%d: allowed are 1 to 1000\n", runs);
    return 2;
  }
  auto wanted = [&](const std::string &name) {
    return cases.empty() || std::any_of(cases.begin(), cases.end(), [&](auto &word) {
      return exact ? name == word : name.rfind(word, 0) == 0;
    });
  };
  Ours ours;
#ifdef EMBREE
  Peer peer;
#endif
  struct Kind {
    const char *name;
    Scene (*make)(uint32_t);
  };
  for (Kind kind : {Kind{"sheet", sheet}, Kind{"soup", soup}})
    for (uint32_t triangles = 1000; triangles <= 1000000; triangles *= 10) {
      std::string tail = std::string(kind.name) + "-" + std::to_string(triangles);
      if (!wanted("build-" + tail) && !wanted("rays-" + tail)) continue;
      Scene scene = kind.make(triangles);
      add_rays(scene, 100000);
      std::vector<double> built, built_peer, asked, asked_peer;
      std::vector<float> distances(scene.rays.size()), distances_peer = distances;
      auto rate = [&](double time) { return (double)scene.rays.size() / time / 1e6; };
      for (int run = 0; run < runs; ++run) {
        built.push_back(ours.build(scene) * 1e3);
#ifdef EMBREE
        built_peer.push_back(peer.build(scene) * 1e3);
#endif
        asked.push_back(rate(ours.rays(scene, distances)));
#ifdef EMBREE
        asked_peer.push_back(rate(peer.rays(scene, distances_peer)));
#endif
      }
#ifdef EMBREE
      // Two ways of rounding may see a ray on an edge on either side of it.
      size_t differ = 0;
      for (size_t i = 0; i < distances.size(); ++i)
        differ += !(distances[i] == distances_peer[i] || std::fabs(distances[i] - distances_peer[i]) < 1e-3f);
      if (differ > distances.size() / 1000)
        std::fprintf(stderr, "bench: rtas: %s: %zu of %zu rays meet something else than Embree's\n", tail.c_str(), differ,
                     distances.size());
#endif
      if (wanted("build-" + tail)) row("build-" + tail, "ms", false, built, built_peer);
      if (wanted("rays-" + tail)) row("rays-" + tail, "Mray/s", true, asked, asked_peer);
    }
  return 0;
}
