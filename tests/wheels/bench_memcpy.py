"""Nanoseconds of one USM copy with its wait through dpctl: the best of many rounds, on stdout."""

import time

import dpctl
import dpctl.memory

queue = dpctl.SyclQueue()
source = dpctl.memory.MemoryUSMShared(1024, queue=queue)
target = dpctl.memory.MemoryUSMDevice(1024, queue=queue)
best = float("inf")
for _ in range(40):
    began = time.perf_counter_ns()
    for _ in range(250):
        queue.memcpy(target, source, 1024)
    best = min(best, (time.perf_counter_ns() - began) / 250)
print(best)
