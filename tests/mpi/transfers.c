// Doubles between the ranks of an MPI program, from and to each kind of Level Zero memory: send and receive, exchange in a
// ring, broadcast, reduce, allreduce (also in place), allgather. MPI takes the pointers as they are: I_MPI_OFFLOAD=1.
// Whole allocations, new for each operation, and pointers into one that is kept for all operations. Exit status 0 and
// "0 wrong" in the last line: every value was right.
#include "../../crates/conformance/c/client.h"

#include <mpi.h>

enum kind { DEVICE, HOST, SHARED, KINDS };
static const char *const kind_names[] = {"device", "host", "shared"};
enum operation { SEND, EXCHANGE, BROADCAST, REDUCE, ALLREDUCE, IN_PLACE, ALLGATHER, OPERATIONS };
static const char *const operation_names[] = {"send", "exchange", "broadcast", "reduce", "allreduce", "in place", "allgather"};
static const int counts[] = {16, 1000, 4096, 50001, 1000000};

static struct client client;
static int rank, ranks, turn;

#define MPI(call) CHECK((call) == MPI_SUCCESS)

static void *allocate(enum kind kind, size_t bytes) {
  ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void *memory = NULL;
  if (kind == DEVICE) OK(zeMemAllocDevice(client.context, &device, bytes, 64, client.device, &memory));
  if (kind == HOST) OK(zeMemAllocHost(client.context, &host, bytes, 64, &memory));
  if (kind == SHARED) OK(zeMemAllocShared(client.context, &device, &host, bytes, 64, client.device, &memory));
  return memory;
}

static void copy(double *to, const double *from, size_t count) {
  OK(zeCommandListAppendMemoryCopy(client.list, to, from, count * sizeof *to, NULL, 0, NULL));
  OK(zeCommandListHostSynchronize(client.list, UINT64_MAX));
}

// The data that a rank sends: exact in sums, different in each round.
static double value(int of, size_t at) { return 1e6 * (of + 1) + (double)at + 7.0 * turn; }

static double sum(size_t at) {
  double all = 0;
  for (int of = 0; of < ranks; ++of) all += value(of, at);
  return all;
}

// Where `found` differs from `expected`; counts up to one rank's part.
static long wrong(const double *found, size_t count, enum operation operation, int root) {
  long bad = 0;
  for (size_t i = 0; i < count; ++i) {
    double expected = -1;
    switch (operation) {
    case SEND: if (rank == (root + 1) % ranks) expected = value(root, i); break;
    case EXCHANGE: expected = value((rank + ranks - 1) % ranks, i); break;
    case BROADCAST: expected = value(root, i); break;
    case REDUCE: if (rank == root) expected = sum(i); break;
    case ALLREDUCE:
    case IN_PLACE: expected = sum(i); break;
    default: expected = value((int)(i / (count / ranks)), i % (count / ranks));
    }
    bad += found[i] != expected;
  }
  return bad;
}

// One operation with `count` doubles at `from` and `to`; how many came out wrong on this rank.
static long perform(enum operation operation, double *from, double *to, int count, double *scratch) {
  int root = turn % ranks, next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  size_t received = (size_t)count * (operation == ALLGATHER ? ranks : 1);
  int is_filled = operation == IN_PLACE || (operation == BROADCAST && rank == root);
  for (int i = 0; i < count; ++i) scratch[i] = value(rank, i);
  copy(is_filled ? to : from, scratch, count);
  if (!is_filled) {
    for (size_t i = 0; i < received; ++i) scratch[i] = -1;
    copy(to, scratch, received);
  }
  switch (operation) {
  case SEND:
    if (rank == root) MPI(MPI_Send(from, count, MPI_DOUBLE, next, turn, MPI_COMM_WORLD));
    if (last == root) MPI(MPI_Recv(to, count, MPI_DOUBLE, root, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    break;
  case EXCHANGE: {
    MPI_Request requests[2];
    MPI(MPI_Irecv(to, count, MPI_DOUBLE, last, turn, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Isend(from, count, MPI_DOUBLE, next, turn, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    break;
  }
  case BROADCAST: MPI(MPI_Bcast(to, count, MPI_DOUBLE, root, MPI_COMM_WORLD)); break;
  case REDUCE: MPI(MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD)); break;
  case ALLREDUCE: MPI(MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); break;
  case IN_PLACE: MPI(MPI_Allreduce(MPI_IN_PLACE, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); break;
  default: MPI(MPI_Allgather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, MPI_COMM_WORLD));
  }
  copy(scratch, to, received);
  return wrong(scratch, received, operation, root);
}

int main(int argc, char **argv) {
  MPI(MPI_Init(&argc, &argv));
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  CHECK(ranks > 1);
  client_driver(&client);
  ze_context_desc_t context = {ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  OK(zeContextCreate(client.driver, &context, &client.context));
  ze_command_queue_desc_t queue = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  OK(zeCommandListCreateImmediate(client.context, client.device, &queue, &client.list));

  long failed = 0, operations = 0;
  for (size_t size = 0; size < sizeof counts / sizeof *counts; ++size) {
    size_t count = counts[size], room = count * ranks + 17;
    double *scratch = malloc(room * sizeof *scratch);
    CHECK(scratch);
    for (int pair = 0; pair < KINDS * KINDS; ++pair) {
      enum kind from = pair / KINDS, to = pair % KINDS;
      for (size_t inner = 0; inner <= 17; inner += 17) {
        double *source = NULL, *target = NULL;
        for (enum operation operation = 0; operation < OPERATIONS; ++operation, ++turn, ++operations) {
          // New ones have the addresses of those that were freed before.
          if (!source) source = allocate(from, room * sizeof *source), target = allocate(to, room * sizeof *target);
          long bad = perform(operation, source + inner, target + inner, (int)count, scratch), worst = 0;
          MPI(MPI_Allreduce(&bad, &worst, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
          failed += worst > 0;
          if (worst > 0 && rank == 0)
            printf("FAIL  %s of %zu doubles, %s to %s, %s: %ld wrong\n", operation_names[operation], count, kind_names[from],
                   kind_names[to], inner ? "in kept memory" : "in new memory", worst);
          if (inner && operation + 1 < OPERATIONS) continue;
          OK(zeMemFree(client.context, source));
          OK(zeMemFree(client.context, target));
          source = NULL;
        }
      }
    }
    free(scratch);
  }
  if (rank == 0) printf("%ld operations in %d ranks, %ld wrong\n", operations, ranks, failed);
  OK(zeCommandListDestroy(client.list));
  OK(zeContextDestroy(client.context));
  MPI(MPI_Finalize());
  return failed > 0;
}
