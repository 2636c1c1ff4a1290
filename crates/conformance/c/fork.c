// The child of a process that uses Level Zero gets UNINITIALIZED and can exit; the parent continues.
#include "client.h"
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct client client;
  CHECK(argc == 2);
  client_open(&client, argv[1]);
  client_add(&client, 1000);
  volatile uint32_t *stop = client_spin(&client);
  for (int round = 0; round < 2; ++round) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      void *pointer;
      ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
      CHECK(zeMemAllocHost(client.context, &desc, 4096, 64, &pointer) == ZE_RESULT_ERROR_UNINITIALIZED);
      CHECK(zeCommandListHostSynchronize(client.list, UINT64_MAX) == ZE_RESULT_ERROR_UNINITIALIZED);
      if (round == 0) exit(0); // through the destructors
      _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  *stop = 1;
  OK(zeCommandListHostSynchronize(client.list, UINT64_MAX));
  client_add(&client, 1000);
  puts("ok");
  return 0;
}
