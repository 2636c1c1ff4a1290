// sub_all.cpp - XPTI subscriber that records every notification of every stream
// as JSON lines.  Links to nothing but libc/libstdc++; the framework functions
// are looked up in the already loaded libxptifw (RTLD_DEFAULT, then
// XPTI_FRAMEWORK_DISPATCHER).
//
// build: g++ -O2 -std=c++17 -fPIC -shared sub_all.cpp -o libsub_all.so -ldl
// use:   XPTI_TRACE_ENABLE=1 XPTI_FRAMEWORK_DISPATCHER=libxptifw.so.1
//        XPTI_SUBSCRIBERS=./libsub_all.so  [UR_ENABLE_LAYERS=UR_LAYER_TRACING] app
// environment:
//   XPTI_SUB_OUT      output file (default: xpti_trace.jsonl)
//   XPTI_SUB_STREAMS  comma list of streams to subscribe (default: all offered)
//   XPTI_SUB_TYPES    comma list of numeric trace types (default: 1..127)
//   XPTI_SUB_LEVEL    0..3: exported detail level (default: export says "not set")
//   XPTI_SUB_QUIET    1: count only, one line per stream and type at finish
// One line per event: seq, tid, stream, type, tt, parent, event, instance, then
// decoded user data (ud), payload, metadata.
#include "../../crates/libxptifw/tests/cpp/xpti_abi.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

using namespace xa;
namespace {
constexpr int MAXS = 32;
api *A;
FILE *out;
std::mutex mu;
std::atomic<uint64_t> seq{0};
char *stream_name[MAXS];
uint64_t counts[MAXS][65536 / 256];
int nstreams;

bool listed(const char *list, const char *item) {
  if (!list || !*list) return true;
  size_t n = strlen(item);
  for (const char *p = list; p;) {
    const char *e = strchr(p, ',');
    size_t l = e ? (size_t)(e - p) : strlen(p);
    if (l == n && !strncmp(p, item, n)) return true;
    p = e ? e + 1 : nullptr;
  }
  return false;
}
void esc(std::string &o, const char *s, size_t n) {
  o += '"';
  for (size_t i = 0; i < n; i++) {
    unsigned char c = s[i];
    if (c == '"' || c == '\\') { o += '\\'; o += (char)c; }
    else if (c < 0x20 || c >= 0x7f) { char b[8]; snprintf(b, 8, "\\u%04x", c); o += b; }
    else o += (char)c;
  }
  o += '"';
}
void kv(std::string &o, const char *k, const char *s) {
  o += ",\""; o += k; o += "\":";
  if (s) esc(o, s, strnlen(s, 400)); else o += "null";
}
void kn(std::string &o, const char *k, uint64_t v) {
  char b[96]; snprintf(b, sizeof b, ",\"%s\":%llu", k, (unsigned long long)v); o += b;
}
void kp(std::string &o, const char *k, const void *p) {
  char b[96]; snprintf(b, sizeof b, ",\"%s\":\"%p\"", k, p); o += b;
}
void meta_json(std::string &o, event_data *e) {
  metadata_map *m = A->xptiQueryMetadata(e);
  if (!m || m->empty()) return;
  o += ",\"meta\":{";
  bool first = true;
  for (auto &it : *m) {
    const char *k = A->xptiLookupString(it.first);
    object_data d = A->xptiLookupObject(it.second);
    if (!first) o += ',';
    first = false;
    esc(o, k ? k : "?", strlen(k ? k : "?"));
    char b[160];
    snprintf(b, sizeof b, ":{\"t\":%u,\"n\":%zu,\"v\":", d.type, d.size);
    o += b;
    if (d.type == 1) esc(o, d.data, d.size);
    else if (d.type == 2 || d.type == 3 || d.type == 5) {
      uint64_t v = 0; memcpy(&v, d.data, d.size < 8 ? d.size : 8);
      snprintf(b, sizeof b, "%llu", (unsigned long long)v); o += b;
    } else {
      o += '"';
      for (size_t i = 0; i < d.size && i < 96; i++) { snprintf(b, 4, "%02x", (unsigned char)d.data[i]); o += b; }
      o += '"';
    }
    o += '}';
  }
  o += '}';
}
void payload_json(std::string &o, const char *key, const payload *p) {
  if (!p) return;
  o += ",\""; o += key; o += "\":{\"x\":0";
  kv(o, "name", p->name);
  kv(o, "file", p->source_file);
  kn(o, "line", p->line_no); kn(o, "col", p->column_no);
  kp(o, "code", p->code_ptr_va); kn(o, "flags", p->flags);
  o += '}';
}
void opt(std::string &o, const char *k, const opt_u32 &v) {
  if (v.engaged) kn(o, k, v.value); else { o += ",\""; o += k; o += "\":null"; }
}
void ud_json(std::string &o, const char *st, uint16_t tt, const void *ud, const void *ev) {
  kp(o, "udp", ud);
  if (!ud) return;
  bool image = !strcmp(st, "sycl.experimental.image");
  switch (tt) {
  case 28: case 29: {
    auto *f = (const function_with_args *)ud;
    kn(o, "fid", f->function_id); kv(o, "fn", f->function_name);
    kp(o, "args", f->args_data);
    if (f->ret_data) kn(o, "ret", *(uint32_t *)f->ret_data);
    kp(o, "fud", f->user_data);
    break;
  }
  case 32: case 33: case 34: case 35: {
    // vendor runtime: USM calls pass an event and a C string, buffer calls pass
    // no event and a struct
    if (ev) { kv(o, "ud", (const char *)ud); break; }
    auto *m = (const mem_alloc *)ud;
    kn(o, "obj", m->mem_object_handle); kn(o, "ptr", m->alloc_pointer);
    kn(o, "size", m->alloc_size); kn(o, "guard", m->guard_zone_size);
    break;
  }
  case 36: case 37:
    if (image) {
      auto *i = (const offload_image *)ud;
      kn(o, "obj", i->user_object); kn(o, "host", i->host_object); kn(o, "dim", i->dim);
      kn(o, "r0", i->range[0]); kn(o, "r1", i->range[1]); kn(o, "r2", i->range[2]);
      kn(o, "format", i->format);
      opt(o, "addressing", i->addressing); opt(o, "normalization", i->normalization); opt(o, "filtering", i->filtering);
    } else {
      auto *b = (const offload_buffer *)ud;
      kn(o, "obj", b->user_object); kn(o, "host", b->host_object); kv(o, "elem", b->element_type);
      kn(o, "esize", b->element_size); kn(o, "dim", b->dim);
      kn(o, "r0", b->range[0]); kn(o, "r1", b->range[1]); kn(o, "r2", b->range[2]);
    }
    break;
  case 38: case 39: {
    auto *a = (const offload_association *)ud;
    kn(o, "obj", a->user_object); kn(o, "mem", a->mem_object);
    break;
  }
  case 40:
    if (image) {
      auto *a = (const offload_image_accessor *)ud;
      kn(o, "obj", a->image); kn(o, "acc", a->accessor); opt(o, "target", a->target); opt(o, "mode", a->mode);
      kv(o, "elem", a->element_type); kn(o, "esize", a->element_size);
    } else {
      auto *a = (const offload_accessor *)ud;
      kn(o, "obj", a->buffer); kn(o, "acc", a->accessor); kn(o, "target", a->target); kn(o, "mode", a->mode);
    }
    break;
  case 16: break; // signal: event handle, opaque
  default: kv(o, "ud", (const char *)ud);
  }
}
void record(int s, uint16_t tt, event_data *par, event_data *ev, uint64_t inst, const void *ud) {
  static const bool quiet = getenv("XPTI_SUB_QUIET") != nullptr;
  if (quiet) { __atomic_fetch_add(&counts[s][tt & 255], 1, __ATOMIC_RELAXED); return; }
  std::string o = "{\"seq\":";
  o += std::to_string(seq.fetch_add(1));
  kn(o, "tid", (uint64_t)syscall(SYS_gettid));
  kv(o, "stream", stream_name[s]);
  const char *n = trace_type_name(tt);
  if (n) kv(o, "type", n); else kn(o, "type", tt);
  kn(o, "tt", tt);
  kp(o, "parent", par); kp(o, "event", ev);
  kn(o, "instance", inst);
  ud_json(o, stream_name[s], tt, ud, ev);
  kn(o, "tls_uid", A->xptiGetUniversalId());
  char *sk = nullptr; uint64_t sv = 0;
  if (A->xptiGetStashedTuple(&sk, &sv) == 0) { kv(o, "stash_key", sk); kn(o, "stash_val", sv); }
  if (par) { kn(o, "par_uid", par->unique_id); }
  if (ev) {
    kn(o, "uid", ev->unique_id); kn(o, "data_id", ev->data_id); kn(o, "inst_id", ev->instance_id);
    kn(o, "et", ev->event_type); kn(o, "at", ev->activity_type);
    kn(o, "src", ev->source_id); kn(o, "tgt", ev->target_id);
    kp(o, "gud", ev->global_user_data); kn(o, "eflags", ev->flags);
    payload_json(o, "payload", A->xptiQueryPayload(ev));
    meta_json(o, ev);
  }
  o += "}\n";
  std::lock_guard<std::mutex> g(mu);
  fwrite(o.data(), 1, o.size(), out);
  fflush(out);
}
template <int S> void cb(uint16_t tt, event_data *p, event_data *e, uint64_t i, const void *u) { record(S, tt, p, e, i, u); }
template <int... I> struct seq_t {};
template <int N, int... I> struct mk : mk<N - 1, N - 1, I...> {};
template <int... I> struct mk<0, I...> { using type = seq_t<I...>; };
callback table[MAXS];
template <int... I> void fill(seq_t<I...>) { callback t[] = {cb<I>...}; memcpy(table, t, sizeof t); }

void setup() {
  if (A) return;
  fill(mk<MAXS>::type{});
  A = new api;
  void *h = nullptr;
  if (!dlsym(RTLD_DEFAULT, "xptiRegisterStream"))
    if (const char *d = getenv("XPTI_FRAMEWORK_DISPATCHER")) h = dlopen(d, RTLD_LAZY);
  resolve(*A, [&](const char *n) { return h ? dlsym(h, n) : dlsym(RTLD_DEFAULT, n); });
  const char *f = getenv("XPTI_SUB_OUT");
  out = fopen(f ? f : "xpti_trace.jsonl", "w");
}
} // namespace

extern "C" __attribute__((visibility("default"))) void
xptiTraceInit(unsigned maj, unsigned min, const char *ver, const char *stream) {
  std::lock_guard<std::mutex> g(mu);
  setup();
  std::string o = "{\"init\":1";
  kn(o, "maj", maj); kn(o, "min", min); kv(o, "ver", ver); kv(o, "stream", stream);
  kn(o, "tid", (uint64_t)syscall(SYS_gettid));
  bool want = listed(getenv("XPTI_SUB_STREAMS"), stream) && nstreams < MAXS;
  if (want) {
    int s = nstreams++;
    stream_name[s] = strdup(stream);
    uint8_t id = A->xptiRegisterStream(stream);
    kn(o, "id", id);
    if (A->xptiGetEffectiveStreamDetailLevel) kn(o, "level", A->xptiGetEffectiveStreamDetailLevel(id));
    const char *types = getenv("XPTI_SUB_TYPES");
    int ok = 0;
    for (int t = 1; t < 128; t++)
      if (listed(types, std::to_string(t).c_str())) ok += A->xptiRegisterCallback(id, (uint16_t)t, table[s]) == 0;
    kn(o, "callbacks", (uint64_t)ok);
  }
  o += "}\n";
  fwrite(o.data(), 1, o.size(), out); fflush(out);
}
extern "C" __attribute__((visibility("default"))) void xptiTraceFinish(const char *stream) {
  std::lock_guard<std::mutex> g(mu);
  if (!out) return;
  std::string o = "{\"finish\":1"; kv(o, "stream", stream);
  o += ",\"counts\":{\"x\":0";
  for (int s = 0; s < nstreams; s++)
    if (!strcmp(stream_name[s], stream))
      for (int t = 0; t < 256; t++) if (counts[s][t]) kn(o, std::to_string(t).c_str(), counts[s][t]);
  o += "}}\n";
  fwrite(o.data(), 1, o.size(), out); fflush(out);
}
extern "C" __attribute__((visibility("default"))) bool
xptiQuerySubscriberStreamDetailLevel(const char *, uint8_t *level) {
  const char *l = getenv("XPTI_SUB_LEVEL");
  if (!l) return false;
  *level = (uint8_t)atoi(l);
  return true;
}
