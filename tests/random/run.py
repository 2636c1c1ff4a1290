#!/usr/bin/env python3
"""Random kernels in OpenCL C, run in every mode of Solum and by other OpenCL runtimes.

clang makes SPIR-V of them, spirv-val judges it, and they run as machine code, full and baseline, without optimisation, with wider
sub-groups, in the interpreter, and where they are installed on PoCL and on Intel's OpenCL runtime. All must leave the
same memory: integers bit by bit, floats within one unit in the last place. What a seed gives does not depend on how many
are asked for; one that differs is repeated by `--first SEED --count 1 --keep DIR`, which leaves its files there.
"""

import argparse
import ctypes
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generator

BATCH = 8  # kernels of a module
LIMIT = 600  # seconds in which one engine has run a module, or hangs
LEVELS = ["-O2", "-O1", "-O0"]
# Rules that clang's SPIR-V breaks without consequence: it writes a null constant for the index of a structure's first field.
CLANGS_OWN = ["to index into a structure must be an OpConstant"]

vp, u32, size_t = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t


def checked(code, what):
    if code:
        raise SystemExit(f"{what}: {code & 0xFFFFFFFF:#x}")


class LevelZero:
    """The first device of libze_loader.so.1, as far as this file needs it."""

    def __init__(self, folder):
        self.z = ctypes.CDLL(str(Path(folder) / "libze_loader.so.1"))
        n, driver, self.device, self.context, self.list = u32(1), vp(), vp(), vp(), vp()
        self.call("zeInit", u32(0))
        self.call("zeDriverGet", ctypes.byref(n), ctypes.byref(driver))
        n = u32(1)
        self.call("zeDeviceGet", driver, ctypes.byref(n), ctypes.byref(self.device))
        self.call("zeContextCreate", driver, struct.pack("<I4xQI4x", 0xD, 0, 0), ctypes.byref(self.context))
        queue = struct.pack("<I4xQIIIII4x", 0xE, 0, 0, 0, 0, 1, 0)
        self.call("zeCommandListCreateImmediate", self.context, self.device, queue, ctypes.byref(self.list))

    def call(self, name, *arguments):
        checked(getattr(self.z, name)(*arguments), name)

    def build(self, binary, _source, options):
        il, flags = ctypes.create_string_buffer(binary, len(binary)), ctypes.create_string_buffer(options.encode())
        desc = struct.pack("<I4xQI4xQQQQ", 0x1B, 0, 0, len(binary), ctypes.addressof(il), ctypes.addressof(flags), 0)
        self.module, log = vp(), vp()
        code = self.z.zeModuleCreate(self.context, self.device, desc, ctypes.byref(self.module), ctypes.byref(log))
        if code:
            size = size_t(0)
            self.z.zeModuleBuildLogGetString(log, ctypes.byref(size), None)
            text = ctypes.create_string_buffer(size.value + 1)
            self.z.zeModuleBuildLogGetString(log, ctypes.byref(size), text)
            raise SystemExit(f"zeModuleCreate: {code:#x}: {text.value.decode(errors='replace')}")

    def run(self, name, group, groups, buffers, values):
        kernel, text = vp(), ctypes.create_string_buffer(name.encode())
        desc = struct.pack("<I4xQI4xQ", 0x1D, 0, 0, ctypes.addressof(text))
        self.call("zeKernelCreate", self.module, desc, ctypes.byref(kernel))
        memory = []
        for index, content in enumerate(buffers):
            at = vp()
            host, device = struct.pack("<I4xQI4x", 0x16, 0, 0), struct.pack("<I4xQII", 0x15, 0, 0, 0)
            sizes = (size_t(len(content)), size_t(64))
            self.call("zeMemAllocShared", self.context, device, host, *sizes, self.device, ctypes.byref(at))
            ctypes.memmove(at, content, len(content))
            memory.append(at)
            self.call("zeKernelSetArgumentValue", kernel, u32(index), size_t(8), ctypes.byref(at))
        for index, value in enumerate(values, len(buffers)):
            self.call("zeKernelSetArgumentValue", kernel, u32(index), size_t(len(value)), value)
        self.call("zeKernelSetGroupSize", kernel, u32(group), u32(1), u32(1))
        counts = struct.pack("<III", groups, 1, 1)
        self.call("zeCommandListAppendLaunchKernel", self.list, kernel, counts, None, u32(0), None)
        self.call("zeCommandListHostSynchronize", self.list, ctypes.c_uint64(2**64 - 1))
        found = [ctypes.string_at(at, len(content)) for at, content in zip(memory, buffers)]
        for at in memory:
            self.call("zeMemFree", self.context, at)
        self.call("zeKernelDestroy", kernel)
        return found


# Names and vendors of the platforms to compare with.
PEERS = {"pocl": ("Portable Computing Language", "The pocl project"), "intel": ("Intel(R) OpenCL", "Intel(R) Corporation")}


class OpenCl:
    """The first device of a peer's platform, which must not be one of ours: PoCL has a driver for Level Zero."""

    def __init__(self, peer):
        self.c = ctypes.CDLL("libOpenCL.so.1")
        for name in ["clCreateContext", "clCreateCommandQueue", "clCreateProgramWithIL", "clCreateProgramWithSource",
                     "clCreateKernel", "clCreateBuffer"]:
            getattr(self.c, name).restype = vp
        platforms, n, self.device = (vp * 8)(), u32(), vp()
        self.c.clGetPlatformIDs(u32(8), platforms, ctypes.byref(n))
        for platform in platforms[: n.value]:
            told = tuple(self.text("clGetPlatformInfo", platform, what) for what in (0x0902, 0x0903))
            if told == PEERS[peer] and not self.device:
                kinds = ctypes.c_uint64(0xFFFFFFFF)
                self.c.clGetDeviceIDs(vp(platform), kinds, u32(1), ctypes.byref(self.device), None)
        if not self.device:
            raise SystemExit(f"no OpenCL platform is named {' by '.join(PEERS[peer])}")
        name = self.text("clGetDeviceInfo", self.device, 0x102B)
        if "Solum" in name:
            raise SystemExit(f"the first device of {peer} is one of Solum's: {name}")
        self.error = ctypes.c_int()
        self.context = self.made("clCreateContext", None, u32(1), ctypes.byref(self.device), None, None)
        self.queue = self.made("clCreateCommandQueue", self.context, self.device, ctypes.c_uint64(0))

    def text(self, function, of, what):
        into = ctypes.create_string_buffer(256)
        getattr(self.c, function)(vp(of) if isinstance(of, int) else of, u32(what), size_t(255), into, None)
        return into.value.decode(errors="replace")

    def made(self, name, *arguments):
        handle = vp(getattr(self.c, name)(*arguments, ctypes.byref(self.error)))
        checked(self.error.value, name)
        return handle

    def call(self, name, *arguments):
        checked(getattr(self.c, name)(*arguments), name)

    def build(self, binary, source, _options):
        flags = b"-cl-std=CL1.2"
        try:
            self.program = self.made("clCreateProgramWithIL", self.context, binary, size_t(len(binary)))
            self.call("clBuildProgram", self.program, u32(1), ctypes.byref(self.device), b"", None, None)
        except SystemExit:
            # Not all take SPIR-V; then it is their own compiler that reads the same text.
            text = ctypes.c_char_p(source)
            self.program = self.made("clCreateProgramWithSource", self.context, u32(1), ctypes.byref(text), None)
            self.call("clBuildProgram", self.program, u32(1), ctypes.byref(self.device), flags, None, None)

    def run(self, name, group, groups, buffers, values):
        kernel = self.made("clCreateKernel", self.program, name.encode())
        memory = []
        for index, content in enumerate(buffers):
            # CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR
            buffer = self.made("clCreateBuffer", self.context, ctypes.c_uint64(1 | 32), size_t(len(content)), content)
            memory.append(buffer)
            self.call("clSetKernelArg", kernel, u32(index), size_t(8), ctypes.byref(buffer))
        for index, value in enumerate(values, len(buffers)):
            self.call("clSetKernelArg", kernel, u32(index), size_t(len(value)), value)
        sizes = (ctypes.byref(size_t(group * groups)), ctypes.byref(size_t(group)))
        self.call("clEnqueueNDRangeKernel", self.queue, kernel, u32(1), None, *sizes, u32(0), None, None)
        found = []
        for buffer, content in zip(memory, buffers):
            into = ctypes.create_string_buffer(len(content))
            place = (buffer, u32(1), size_t(0), size_t(len(content)), into)
            self.call("clEnqueueReadBuffer", self.queue, *place, u32(0), None, None)
            found.append(into.raw)
            self.call("clReleaseMemObject", buffer)
        self.call("clReleaseKernel", kernel)
        return found


def buffers_of(seed, items):
    words, n, (a, b, c, f, v) = generator.inputs(seed)
    pack = struct.pack("<IHBxf4x4I", a, b, c, f, *v)
    buffers = [
        struct.pack(f"<{len(words)}I", *words), bytes(4 * generator.OUT * items), bytes(4 * items), bytes(8 * items),
        struct.pack("<I", 7) * generator.COUNTERS,
    ]
    return buffers, [struct.pack("<I", n), pack]


def worker(kind, where, stem, options, first, end):
    """Runs the kernels of a module; their memory is written to a file with a unique name."""
    engine = LevelZero(where) if kind == "ze" else OpenCl(where)
    engine.build(Path(f"{stem}.spv").read_bytes(), Path(f"{stem}.cl").read_bytes(), options)
    for seed in range(first, end):
        _, group, groups = generator.kernel(seed, f"k{seed}")
        buffers, values = buffers_of(seed, group * groups)
        print(f"seed {seed}", file=sys.stderr, flush=True)
        found = engine.run(f"k{seed}", group, groups, buffers, values)
        sys.stdout.buffer.write(b"".join(found))
    sys.stdout.flush()


def ordered(bits, size):
    """Numbers whose difference counts the floats between two."""
    top = 1 << (8 * size - 1)
    return top - bits if bits & top else bits


def difference(seed, found, expected):
    """Which buffer of the kernel differs where, in words; empty when none does."""
    _, group, groups = generator.kernel(seed, f"k{seed}")
    at = 0
    for name, content in zip(["in", "out", "outf", "outd", "counters"], buffers_of(seed, group * groups)[0]):
        size = 8 if name == "outd" else 4
        a, b = (memory[at : at + len(content)] for memory in (found, expected))
        at += len(content)
        numbers = [struct.unpack(f"<{len(m) // size}{'Q' if size == 8 else 'I'}", m) for m in (a, b)]
        if len(a) != len(b):
            return f"{name} has {len(a)} bytes, not {len(b)}"
        for index, (x, y) in enumerate(zip(*numbers)):
            slack = 1 if name in ("outf", "outd") else 0
            if abs(ordered(x, size) - ordered(y, size)) > slack if slack else x != y:
                return f"{name}[{index}] is {x:#x}, not {y:#x}"
    return ""


def engines(args):
    """Name, kind, where, options, environment; the others are compared with the first."""
    ours = args.libraries
    all_of_them = [
        ("interpreter", "ze", ours, "", {"SOLUM_COMPILER": "interpreter"}),
        ("machine code", "ze", ours, "", {"SOLUM_TIERS": "full"}),
        ("baseline code", "ze", ours, "", {"SOLUM_TIERS": "baseline"}),
        ("with sub-groups of 32", "ze", ours, "", {"SOLUM_TIERS": "full", "SOLUM_SUB_GROUP_SIZE": "32"}),
        ("without optimisation", "ze", ours, "-ze-opt-disable", {}),
    ]
    for peer in PEERS:
        if peer not in args.peer:
            continue
        command = [sys.executable, __file__, "--worker", "cl", peer, "", "", "0", "0"]
        tried = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT)
        if tried.returncode == 77:
            all_of_them.append((peer, "cl", peer, "", {}))
        else:
            why = tried.stderr.strip().splitlines() or ["no word"]
            print(f"not compared with {peer}: {why[-1]}", file=sys.stderr)
    return all_of_them


def batch(folder, first, end, ways, clang):
    """Compares the kernels from `first` to before `end`; the complaints."""
    stem = folder / f"random{first}"
    text = generator.HEAD + "".join(generator.kernel(seed, f"k{seed}")[0] for seed in range(first, end))
    stem.with_suffix(".cl").write_text(text)
    level = LEVELS[first // BATCH % len(LEVELS)]
    command = [clang, "-w", "-cl-std=CL1.2", "--target=spirv64", level, "-c", "-x", "cl", f"{stem}.cl", "-o", f"{stem}.spv"]
    subprocess.run(command, check=True, timeout=LIMIT)
    version = Path(f"{stem}.spv").read_bytes()[4:8]
    try:
        target = f"spv{version[2]}.{version[1]}"
        judged = subprocess.run(["spirv-val", "--target-env", target, f"{stem}.spv"], capture_output=True, text=True)
        if judged.returncode and not any(rule in judged.stderr + judged.stdout for rule in CLANGS_OWN):
            return [f"seeds {first} to {end - 1}, {level}: spirv-val: {judged.stdout}{judged.stderr}"]
    except FileNotFoundError:
        pass
    complaints, results = [], {}
    for name, kind, where, options, environment in ways:
        command = [sys.executable, __file__, "--worker", kind, str(where), str(stem), options, str(first), str(end)]
        environment = {**os.environ, "SOLUM_CACHE": "0", "POCL_CACHE_DIR": str(folder / "pocl"), **environment}
        try:
            ran = subprocess.run(command, capture_output=True, env=environment, timeout=LIMIT)
            words = ran.stderr.decode(errors="replace").strip()
            if ran.returncode:
                complaints.append(f"{level}: {name} ended with {ran.returncode}: {words[-2000:]}")
                continue
            results[name] = ran.stdout
        except subprocess.TimeoutExpired as late:
            complaints.append(f"{level}: {name} hangs: {(late.stderr or b'').decode(errors='replace')[-200:]}")
    base, at = ways[0][0], 0
    for seed in range(first, end):
        _, group, groups = generator.kernel(seed, f"k{seed}")
        size = sum(len(content) for content in buffers_of(seed, group * groups)[0])
        for name, memory in results.items():
            if base in results and name != base:
                why = difference(seed, memory[at : at + size], results[base][at : at + size])
                if why:
                    complaints.append(f"seed {seed}, {level}: {name} and {base}: {why}")
        at += size
    return complaints


def main():
    if sys.argv[1:2] == ["--worker"]:
        kind, where, stem, options, first, end = sys.argv[2:]
        if not stem:
            OpenCl(where)
            sys.exit(77)
        return worker(kind, where, stem, options, int(first), int(end))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", required=True, help="folder of our libraries")
    parser.add_argument("--count", default="100", help="kernels, or unlimited: until one differs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--peer", action="append", default=[], choices=list(PEERS), help="compare with that runtime too")
    parser.add_argument("--keep", help="folder in which sources and modules stay")
    parser.add_argument("--clang", default="clang-22")
    args = parser.parse_args()
    end = None if args.count == "unlimited" else args.first + int(args.count)
    ways = engines(args)
    print(f"compared: {', '.join(way[0] for way in ways)}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        first, wrong = args.first, 0
        while end is None or first < end:
            after = (first // BATCH + 1) * BATCH
            after = after if end is None else min(after, end)
            for complaint in batch(folder, first, after, ways, args.clang):
                wrong += 1
                print(complaint, file=sys.stderr, flush=True)
            if wrong and end is None:
                break
            first = after
        print(f"seeds {args.first} to {first - 1}: {wrong} complaints", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
