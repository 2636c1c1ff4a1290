"""One rank's part of a job, for bench_ranks.py: `share_job.py JOB`, as one process or under mpiexec.

The whole job is the same whatever the number of ranks is. Prints its seconds from the first rank's begin to the last one's
end, after a first turn that compiles.
"""
import sys
import time

import dpnp
from mpi4py import MPI

world = MPI.COMM_WORLD
ELEMENTS = 4_000_000


def element_wise(turns):
    x = dpnp.linspace(0.1, 0.9, ELEMENTS // world.size)
    for _ in range(turns):
        x = dpnp.sin(x) * dpnp.exp(-x) + dpnp.cos(x)
        x.sycl_queue.wait()


def small(turns):
    """Short kernels that are waited for, and a sum over the ranks after each."""
    x = dpnp.ones(200_000 // world.size)
    total = dpnp.zeros(1)
    for _ in range(turns):
        part = dpnp.sum(dpnp.sqrt(x))
        part.sycl_queue.wait()
        addresses = [MPI.memory.fromaddress(a.get_array()._pointer, 8) for a in (part, total)]
        world.Allreduce([addresses[0], MPI.DOUBLE], [addresses[1], MPI.DOUBLE])


def products(turns):
    """Rows of a product of matrices, divided among the ranks."""
    a = dpnp.ones((1200 // world.size, 1200))
    b = dpnp.ones((1200, 1200))
    for _ in range(turns):
        dpnp.matmul(a, b).sycl_queue.wait()


JOBS = {"element_wise": (element_wise, 15), "small": (small, 1500), "products": (products, 12)}
job, turns = JOBS[sys.argv[1]]
job(2)
world.Barrier()
began = time.perf_counter()
job(turns)
world.Barrier()
if world.rank == 0:
    print(f"{time.perf_counter() - began:.4f}")
