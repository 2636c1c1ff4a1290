"""Intel's profiling library (intel-pti) over a program of dpctl and dpnp: does each of its views show the program's work?

use: pti_views.py FRAMEWORK, the libxptifw.so.1 that the library and DPC++ talk over

The wheel has no headers: the records are declared here, as far as they are read. Exit status 0 and a last line
"pti_views: ok" mean that every assertion held.
"""

import atexit
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

FRAMEWORK = pathlib.Path(sys.argv[1]).resolve()
if len(sys.argv) == 2:
    # The library asks for libxptifw.so as soon as it is loaded: a folder with that name alone comes before all others.
    folder = tempfile.mkdtemp()
    os.symlink(FRAMEWORK, f"{folder}/libxptifw.so")
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    os.execv(sys.executable, [sys.executable, *sys.argv, folder])
atexit.register(shutil.rmtree, sys.argv[2])
pti = ctypes.CDLL(str(pathlib.Path(sys.prefix) / "lib/libpti_view.so.1"))
# The library has set this variable while it was loaded, to a name without a folder.
os.environ["XPTI_FRAMEWORK_DISPATCHER"] = str(FRAMEWORK)

KERNEL, DRIVER, RUNTIME, EXTERNAL, COPY, FILL, SYNCHRONISATION = 1, 3, 6, 7, 8, 9, 11
VIEWS = (KERNEL, DRIVER, RUNTIME, EXTERNAL, COPY, FILL, SYNCHRONISATION)
LEVEL_ZERO, SYCL, HYBRID = 1, 3, 4
HOST_TO_DEVICE, DEVICE_TO_HOST, MEMORY_TO_DEVICE, DEVICE_TO_MEMORY = 6, 9, 2, 8
u32, u64, pointer, text = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p


def record(*fields):
    return type("Record", (ctypes.Structure,), {"_fields_": [("view", u32), *fields]})


TIMES = [("append", u64), ("start", u64), ("end", u64), ("submit", u64)]
DEVICE = [("pci", ctypes.c_char * 16), ("uuid", ctypes.c_uint8 * 16)]
CALL = [("correlation", u32), ("thread", u32)]
API = record(("start", u64), ("end", u64), ("group", u32), ("api", u32), ("process", u32), ("thread", u32), ("correlation", u32), ("result", u32))
RECORDS = {
    KERNEL: record(("queue", pointer), ("context", pointer), ("name", text), ("file", text), ("line", u64), ("id", u64), *CALL, *DEVICE, *TIMES),
    COPY: record(("kind", u32), ("source", u32), ("target", u32), ("queue", pointer), ("context", pointer), ("name", text), *DEVICE, ("id", u64), *CALL, *TIMES, ("bytes", u64)),
    FILL: record(("memory", u32), ("queue", pointer), ("context", pointer), ("name", text), *DEVICE, ("id", u64), *CALL, *TIMES, ("bytes", u64), ("value", u64)),
    SYNCHRONISATION: record(("kind", u32), ("context", pointer), ("queue", pointer), ("event", pointer), ("start", u64), ("end", u64), ("thread", u32), ("correlation", u32), ("events", u32), ("result", u32), ("api", u32), ("group", u32)),
    DRIVER: API,
    RUNTIME: API,
    EXTERNAL: record(("correlation", u32), ("external", u64), ("kind", u32)),
}
found = {view: [] for view in VIEWS}


class BUFFER(ctypes.Structure):
    _fields_ = [("at", pointer), ("used", ctypes.c_size_t)]


def must(result, what):
    assert result == 0, f"{what}: result {result}"


library = f"{sys.argv[2]}/pti_buffers.so"
subprocess.run(["cc", "-O1", "-shared", "-fPIC", str(pathlib.Path(__file__).with_name("pti_buffers.c")), "-o", library], check=True)
filled = ctypes.CDLL(library)
must(pti.ptiViewSetCallbacks(filled.asked, filled.full), "callbacks")
for view in VIEWS:
    must(pti.ptiViewEnable(view), f"enabling view {view}")
must(pti.ptiViewEnableDriverApiClass(1, 0x7FFFFFFF, LEVEL_ZERO), "all calls of Level Zero")
must(pti.ptiViewEnableRuntimeApiClass(1, 0x7FFFFFFF, SYCL), "all calls of SYCL")

import dpctl  # noqa: E402
import dpctl.memory  # noqa: E402
import dpnp  # noqa: E402
import numpy as np  # noqa: E402

ROUNDS, BYTES = 7, 40_000
queue = dpctl.SyclQueue(dpctl.SyclDevice())
device = dpctl.memory.MemoryUSMDevice(BYTES, queue=queue)
host = dpctl.memory.MemoryUSMHost(BYTES, queue=queue)
plain = np.zeros(BYTES, dtype=np.uint8)
now = pti.ptiViewGetTimestamp
now.restype = u64
began = now()
for turn in range(ROUNDS):
    must(pti.ptiViewPushExternalCorrelationId(2, u64(1000 + turn)), "pushing an id")
    device.memset(turn)
    must(pti.ptiViewPopExternalCorrelationId(2, ctypes.byref(u64())), "popping an id")
    queue.memcpy(host, device, BYTES)
    queue.memcpy(device, host, BYTES)
    device.copy_from_host(plain)
    plain = device.copy_to_host()
    assert (np.asarray(host) == turn).all() and (plain == 0).all()
    array = dpnp.arange(1000 + turn, dtype="i4", sycl_queue=queue)
    assert dpnp.asnumpy(array).sum() == sum(range(1000 + turn))
queue.wait()
ended = now()
for view in VIEWS:
    must(pti.ptiViewDisable(view), f"disabling view {view}")
must(pti.ptiFlushAllViews(), "flushing")

count = ctypes.c_int.in_dll(filled, "count").value
for buffer in (BUFFER * count).in_dll(filled, "buffers"):
    place = pointer()
    while buffer.used and pti.ptiViewGetNextRecord(pointer(buffer.at), ctypes.c_size_t(buffer.used), ctypes.byref(place)) == 0:
        view = u32.from_address(place.value).value
        found[view].append(RECORDS[view].from_address(place.value))

mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libxptifw" in line}
assert {os.path.realpath(path) for path in mapped} == {str(FRAMEWORK)}, f"over {mapped}, not {FRAMEWORK}"

thread = threading.get_native_id()


def call_names(view):
    names = {}
    for call in found[view]:
        name = text()
        must(pti.ptiViewGetApiIdName(call.group, call.api, ctypes.byref(name)), f"the name of call {call.api} of group {call.group}")
        names.setdefault(name.value.decode(), []).append(call)
    return names


def ordered(what, operations):
    for operation in operations:
        times = [operation.append, operation.submit, operation.start, operation.end]
        assert began <= times[0] and times == sorted(times) and times[-1] <= ended, f"{what}: {began} <= {times} <= {ended}"
        assert operation.queue and operation.context and any(operation.uuid), what
        assert operation.thread == thread, f"{what}: thread {operation.thread}, not {thread}"


kernels = [kernel for kernel in found[KERNEL] if b"linear_sequence" in kernel.name]
assert len(kernels) == ROUNDS, f"{len(kernels)} kernels of dpnp.arange, {ROUNDS} ran: {[kernel.name for kernel in found[KERNEL]]}"
ordered("kernel", kernels)
assert len({kernel.id for kernel in kernels}) == ROUNDS
copies = [copy for copy in found[COPY] if copy.bytes == BYTES]
kinds = [copy.kind for copy in copies]
for kind, what in ((DEVICE_TO_HOST, "device to host"), (HOST_TO_DEVICE, "host to device"), (MEMORY_TO_DEVICE, "program to device"), (DEVICE_TO_MEMORY, "device to program")):
    assert kinds.count(kind) == ROUNDS, f"copies from {what}: {kinds.count(kind)}, {ROUNDS} ran: {sorted(kinds)}"
ordered("copy", copies)
fills = [fill for fill in found[FILL] if fill.bytes == BYTES]
# Intel's library does not keep the value.
assert len(fills) == ROUNDS, [fill.bytes for fill in found[FILL]]
ordered("fill", fills)
waits = [wait for wait in found[SYNCHRONISATION] if wait.kind >= 3]
assert waits and all(wait.start <= wait.end and wait.result == 0 for wait in waits)
driver, runtime = call_names(DRIVER), call_names(RUNTIME)
assert any(name.startswith("zeCommandListAppendLaunchKernel") for name in driver), sorted(driver)
assert len(driver["zeCommandListAppendMemoryFill"]) == ROUNDS and len(driver["zeCommandListAppendMemoryCopy"]) >= 4 * ROUNDS, {name: len(calls) for name, calls in driver.items()}
assert any(name.startswith("urEnqueueKernelLaunch") for name in runtime) and "urEnqueueUSMMemcpy" in runtime, sorted(runtime)
calls = {call.correlation for call in found[RUNTIME]} | {call.correlation for call in found[DRIVER]}
for operation in kernels + copies + fills:
    assert operation.correlation in calls, f"no call has the id {operation.correlation} of device work"
marked = {mark.correlation: mark.external for mark in found[EXTERNAL] if mark.kind == 2}
assert [marked.get(fill.correlation) for fill in fills] == [1000 + turn for turn in range(ROUNDS)], (marked, [fill.correlation for fill in fills])
print(f"{queue.sycl_device.name} over {FRAMEWORK.parent}")
print("  " + ", ".join(f"{len(found[view])} {name}" for view, name in ((KERNEL, "kernels"), (COPY, "copies"), (FILL, "fills"), (SYNCHRONISATION, "waits"), (EXTERNAL, "marks"))))
print(f"  {len(found[DRIVER])} calls of {len(driver)} functions of Level Zero, {len(found[RUNTIME])} of {len(runtime)} of DPC++'s runtime")
print("pti_views: ok")
