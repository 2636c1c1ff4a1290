// main returns while a kernel runs: the process ends at once, with main's code.
#include "client.h"

int main(int argc, char **argv) {
  struct client client;
  CHECK(argc == 2);
  client_open(&client, argv[1]);
  client_spin(&client);
  puts("ok");
  return 0;
}
