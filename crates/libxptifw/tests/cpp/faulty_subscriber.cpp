// faulty_subscriber.cpp - subscribers that misbehave, and an emitter; -DMODE_x chooses, each in a separate library.
//
// build: g++ -std=c++17 -fPIC -shared -DMODE_good faulty_subscriber.cpp -o libfaulty_good.so -ldl -pthread
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <unistd.h>

extern "C" {
int calls;
}
template <class F> static F *function(const char *name) { return (F *)dlsym(RTLD_DEFAULT, name); }
using register_stream = uint8_t(const char *);
using initialize = int32_t(const char *, uint32_t, uint32_t, const char *);

#ifdef MODE_emitter
// Ends its streams while the dynamic linker ends the process, after main and atexit.
static void *framework = dlopen(getenv("EMITTER_DISPATCHER"), RTLD_LAZY);
static int32_t started = ((initialize *)dlsym(framework, "xptiInitialize"))("emitted", 1, 0, "1");
__attribute__((destructor)) static void end() {
  ((void (*)(const char *))dlsym(framework, "xptiFinalize"))("emitted");
  ((void (*)())dlsym(framework, "xptiFrameworkFinalize"))();
}
#else

#ifndef MODE_no_init
extern "C" void xptiTraceInit(unsigned, unsigned, const char *, const char *stream) {
  calls++;
  (void)stream;
#ifdef MODE_streams
  if (calls == 1)
    for (int i = 0; i < 200; i++) function<register_stream>("xptiRegisterStream")(("sub." + std::to_string(i)).c_str());
#endif
#ifdef MODE_recursive
  if (std::string(stream) == "s") function<initialize>("xptiInitialize")("inner", 1, 0, "1");
#endif
#ifdef MODE_throwing
  throw 7;
#endif
#ifdef MODE_throwing_later
  if (!strcmp(stream, "s")) throw 7;
#endif
#ifdef MODE_crashing_init
  *(volatile int *)8 = 1;
#endif
}
#endif

#ifndef MODE_no_finish
extern "C" void xptiTraceFinish(const char *stream) {
#ifdef MODE_good
  if (!strcmp(stream, "emitted") && write(1, "finished emitted\n", 17) < 0) calls = -1;
#endif
  (void)stream;
#ifdef MODE_unregisters
  if (calls++ < 20) function<int32_t(const char *)>("xptiUnregisterStream")(stream);
#endif
}
#endif

#ifdef MODE_constructor
__attribute__((constructor)) static void begin() {
  function<bool()>("xptiTraceEnabled")();
  function<register_stream>("xptiRegisterStream")("from a constructor");
  function<bool(uint8_t, uint16_t)>("xptiCheckTraceEnabled")(2, 10);
}
#endif
#ifdef MODE_crashing
__attribute__((constructor)) static void begin() { *(volatile int *)8 = 1; }
#endif
#ifdef MODE_aborting
static int begun = (abort(), 1);
#endif
#ifdef MODE_throwing_constructor
static int begun = (throw 7, 1);
#endif
#ifdef MODE_exiting
static int begun = (exit(0), 1);
#endif
#ifdef MODE_hanging
__attribute__((constructor)) static void begin() { for (;;) pause(); }
#endif
#ifdef MODE_constructor_waits
// For a thread that needs the framework, which waits for this constructor. (The dynamic linker's own lock is held: the
// thread must not ask it for anything.)
__attribute__((constructor)) static void begin() {
  auto enabled = function<bool()>("xptiTraceEnabled");
  std::thread([=] { enabled(); }).join();
}
#endif
#ifdef MODE_missing_library
// Linked against a library that is removed afterwards.
extern "C" int gone();
extern "C" int use_it() { return gone(); }
#endif
#endif
