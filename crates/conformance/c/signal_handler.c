// A program with its own SIGSEGV handler: its faults reach the handler, a kernel's fault does not, and the process lives.
// argv[2]: "before" or "after" says when the handler is installed.
#include "client.h"
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static volatile int caught;

static void handler(int signal_number) {
  (void)signal_number;
  ++caught;
  siglongjmp(back, 1);
}

static void install(void) {
  struct sigaction action = {0};
  action.sa_handler = handler;
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}

static void fault_of_our_own(void) {
  int before = caught;
  if (sigsetjmp(back, 1) == 0) *(volatile int *)8 = 1;
  CHECK(caught == before + 1);
}

int main(int argc, char **argv) {
  struct client client;
  CHECK(argc == 3);
  int before = strcmp(argv[2], "before") == 0;
  if (before) install();
  client_open(&client, argv[1]);
  client_add(&client, 100);
  if (!before) install();
  fault_of_our_own();

  ze_kernel_handle_t kernel = client_kernel(&client, "write_to");
  uint64_t address = 16;
  OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
  OK(zeKernelSetArgumentValue(kernel, 0, sizeof address, &address));
  ze_group_count_t groups = {1, 1, 1};
  OK(zeCommandListAppendLaunchKernel(client.list, kernel, &groups, NULL, 0, NULL));
  int own = caught;
  CHECK(zeCommandListHostSynchronize(client.list, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
  CHECK(caught == own);
  const char *text = NULL;
  OK(zeDriverGetLastErrorDescription(client.driver, &text));
  CHECK(text && strstr(text, "write_to"));
  CHECK(zeContextGetStatus(client.context) == ZE_RESULT_ERROR_DEVICE_LOST);
  fault_of_our_own();

  // A new context works.
  struct client next;
  client_open(&next, argv[1]);
  client_add(&next, 100);
  puts("ok");
  return 0;
}
