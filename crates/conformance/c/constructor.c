// A library whose constructor runs a kernel, and (without LIBRARY) the program that opens it. Constructors run under the
// dynamic linker's lock: the driver's threads must begin, load and compile without it.
#include "client.h"
#include <dlfcn.h>

#ifdef LIBRARY
__attribute__((constructor)) static void run(void) {
  struct client client;
  client_open(&client, getenv("CLIENT_KERNELS"));
  client_add(&client, 1000003);
}
#else
int main(int argc, char **argv) {
  CHECK(argc == 3);
  setenv("CLIENT_KERNELS", argv[1], 1);
  CHECK(dlopen(argv[2], RTLD_NOW));
  puts("ok");
  return 0;
}
#endif
