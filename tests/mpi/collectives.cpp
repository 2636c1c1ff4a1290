// oneCCL's collectives over a SYCL queue: allreduce, allgather, broadcast, reduce, reduce-scatter of floats in device and
// shared memory. One process a rank; MPI tells the address of the key-value store. Exit status 0 and "0 wrong" in the
// last line: every value was right.
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>
#include <oneapi/ccl.hpp>
#include <sycl/sycl.hpp>

int main(int argc, char **argv) try {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  ccl::init();
  sycl::queue queue{sycl::property::queue::in_order()};
  ccl::kvs::address_type address;
  ccl::shared_ptr_class<ccl::kvs> store;
  if (rank == 0) {
    store = ccl::create_main_kvs();
    address = store->get_address();
  }
  MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank != 0)
    store = ccl::create_kvs(address);
  auto device = ccl::create_device(queue.get_device());
  auto context = ccl::create_context(queue.get_context());
  auto communicator = ccl::create_communicator(ranks, rank, device, context, store);
  auto stream = ccl::create_stream(queue);

  int turn = 0;
  // Small whole numbers: exact in sums.
  auto value = [&](int of, std::size_t at) { return float(1000 * of + int(at % 997) + turn); };
  auto sum = [&](std::size_t at) {
    float all = 0;
    for (int of = 0; of < ranks; ++of)
      all += value(of, at);
    return all;
  };
  int operations = 0, failed = 0;
  for (auto [kind, kind_name] : {std::pair{sycl::usm::alloc::device, "device"}, {sycl::usm::alloc::shared, "shared"}})
    for (std::size_t count : {64, 10000, 1000000}) {
      const std::size_t room = count * ranks;
      float *from = sycl::malloc<float>(room, queue, kind), *to = sycl::malloc<float>(room, queue, kind);
      std::vector<float> host(room);
      // `sends` floats go out, `receives` come in on ranks that check them; the expected values.
      auto check = [&](const char *name, std::size_t sends, std::size_t receives, bool looks,
                       const std::function<ccl::event()> &perform, const std::function<float(std::size_t)> &expected) {
        for (std::size_t i = 0; i < sends; ++i)
          host[i] = value(rank, i);
        queue.memcpy(from, host.data(), sends * sizeof(float)).wait();
        // A fill is a kernel, which takes a device compiler to build.
        queue.memset(to, 0xff, room * sizeof(float)).wait();
        perform().wait();
        queue.memcpy(host.data(), to, receives * sizeof(float)).wait();
        int bad = 0, worst = 0;
        for (std::size_t i = 0; looks && i < receives; ++i)
          bad += host[i] != expected(i);
        MPI_Allreduce(&bad, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (worst && rank == 0)
          std::printf("FAIL  %s of %zu floats in %s memory: %d wrong\n", name, count, kind_name, worst);
        failed += worst > 0;
        ++operations;
        ++turn;
      };
      int root = turn % ranks;
      check("allreduce", count, count, true,
            [&] { return ccl::allreduce(from, to, count, ccl::reduction::sum, communicator, stream); }, sum);
      check("allgather", count, room, true,
            [&] {
              return ccl::allgatherv(from, count, to, std::vector<std::size_t>(ranks, count), communicator, stream);
            },
            [&](std::size_t i) { return value(int(i / count), i % count); });
      root = turn % ranks;
      check("broadcast", count, count, true,
            [&] {
              if (rank == root)
                queue.memcpy(to, from, count * sizeof(float)).wait();
              return ccl::broadcast(to, count, root, communicator, stream);
            },
            [&](std::size_t i) { return value(root, i); });
      root = turn % ranks;
      check("reduce", count, count, rank == root,
            [&] { return ccl::reduce(from, to, count, ccl::reduction::sum, root, communicator, stream); }, sum);
      check("reduce-scatter", room, count, true,
            [&] { return ccl::reduce_scatter(from, to, count, ccl::reduction::sum, communicator, stream); },
            [&](std::size_t i) { return sum(rank * count + i); });
      sycl::free(from, queue);
      sycl::free(to, queue);
    }
  if (rank == 0)
    std::printf("%d collectives in %d ranks, %d wrong\n", operations, ranks, failed);
  MPI_Finalize();
  return failed > 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
