"""dpnp in the ranks of an MPI program, over mpi4py: MPI gets the address of an array's memory.

Each kind of USM through allreduce, broadcast, allgather and an exchange in a ring, from and to the results of kernels; then
heat in a rod that is divided among the ranks, with an exchange of borders in each step. All compared with NumPy. Exit
status 0 and a last line "dpnp_ranks: ok" mean that every rank found every value right.
"""
import sys

import dpnp
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
before, after = (rank - 1) % ranks, (rank + 1) % ranks


def memory(array):
    """The array's bytes for MPI, after the kernels that write them."""
    array.sycl_queue.wait()
    return [MPI.memory.fromaddress(array.get_array()._pointer, array.nbytes), MPI.DOUBLE]


def part(of, count, turn):
    """A rank's data, in whole numbers: sums are exact."""
    return np.arange(count, dtype="f8") * (of + 1) + turn


def same(what, got, expected):
    if not np.array_equal(dpnp.asnumpy(got), expected):
        sys.exit(f"rank {rank} of {ranks}: {what}: {dpnp.asnumpy(got)!r}, {expected!r} expected")


for turn, (kind, count) in enumerate((kind, count) for kind in ("device", "host", "shared") for count in (16, 5000, 1_000_000)):
    what = f"{count} doubles in {kind} memory"
    mine = dpnp.arange(count, dtype="f8", usm_type=kind) * (rank + 1) + turn
    assert mine.usm_type == kind
    all_of = [part(of, count, turn) for of in range(ranks)]

    total = dpnp.zeros(count, usm_type=kind)
    world.Allreduce(memory(mine), memory(total))
    same(f"allreduce, {what}", total * 2, 2 * sum(all_of))

    root = turn % ranks
    copy = mine.copy() if rank == root else dpnp.zeros(count, usm_type=kind)
    world.Bcast(memory(copy), root)
    same(f"broadcast, {what}", copy + 1, all_of[root] + 1)

    every = dpnp.zeros(count * ranks, usm_type=kind)
    world.Allgather(memory(mine), memory(every))
    same(f"allgather, {what}", every - 1, np.concatenate(all_of) - 1)

    ring = dpnp.zeros(count, usm_type=kind)
    world.Sendrecv(memory(mine), after, recvbuf=memory(ring), source=before)
    same(f"exchange, {what}", ring, all_of[before])

# Each rank has `cells` of the rod, and a cell of each neighbour beside them.
cells, steps = 1000, 50
left = rank - 1 if rank > 0 else MPI.PROC_NULL
right = rank + 1 if rank + 1 < ranks else MPI.PROC_NULL
rod = np.sin(np.arange(cells * ranks + 2.0))
mine = dpnp.asarray(rod[rank * cells:(rank + 1) * cells + 2])
for _ in range(steps):
    mine[1:-1] += 0.25 * (mine[:-2] - 2 * mine[1:-1] + mine[2:])
    rod[1:-1] += 0.25 * (rod[:-2] - 2 * rod[1:-1] + rod[2:])
    for sent, to, got, source in ((mine[1:2], left, mine[-1:], right), (mine[-2:-1], right, mine[:1], left)):
        world.Sendrecv(memory(sent), to, recvbuf=memory(got), source=source)
if not np.allclose(dpnp.asnumpy(mine)[1:-1], rod[rank * cells + 1:(rank + 1) * cells + 1], rtol=0, atol=1e-12):
    sys.exit(f"rank {rank} of {ranks}: the rod differs from NumPy's")
world.Barrier()
if rank == 0:
    print(f"{ranks} ranks, {MPI.Get_library_version().splitlines()[0].strip()}, {mine.sycl_device.name}")
    print("dpnp_ranks: ok")
