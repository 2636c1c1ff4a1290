"""60 functions of dpnp, each in three types and three sizes: this machine's processors through Solum, and through
Intel's CPU OpenCL runtime, in turns.

use: bench_dpnp.py --solum PROGRAM --intel FOLDER [--json FILE] [--processes N] [--turns N] [FUNCTION...]

Each runtime has a separate process; one waits while the other works. A turn calls the function until TURN seconds are
over, and waits for the queue after every call; a case's time is the least of its turns. All cases are measured in several
processes, one after another: where the system places a process's threads makes small calls up to five times as long for all of
its life. A ratio above 1 means that Solum is faster; on a busy machine the ratio of processor times tells more. FOLDER holds libintelocl.so. Exit status: 0 when everything was measured, 2 when a case failed in a runtime.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

# Seconds of one turn: the shortest call, of 15 microseconds, is repeated a thousand times.
TURN = 0.015
SIZES = (1_000, 100_000, 4_000_000)
FLOATS, ALL, INTEGERS = ("f4", "f8", "c8"), ("f4", "f8", "i8"), ("u1", "i4", "i8")
REALS = ("f2", "f4", "f8")


def functions():
    """Name, types, and a function of two flat arrays of one length that makes the call."""
    import dpnp as np

    def square(a):
        rows = math.isqrt(a.size)
        return a[: rows * rows].reshape(rows, rows)

    def small(a):
        rows = min(math.isqrt(a.size), 1000)
        return a[: rows * rows].reshape(rows, rows)

    def unary(f):
        return lambda a, b: lambda: f(a)

    def binary(f):
        return lambda a, b: lambda: f(a, b)

    def of_square(f):
        return lambda a, b: lambda m=square(a): f(m)

    def index(a, b):
        where = np.asarray((np.arange(a.size, dtype="i8") * 7919) % a.size)
        return lambda: np.take(a, where)

    def search(a, b):
        ordered = np.sort(a)
        return lambda: np.searchsorted(ordered, b)

    def condition(a, b):
        chosen = a > b
        return lambda: np.where(chosen, a, b)

    one = {name: (types, unary(getattr(np, name))) for name, types in (
        ("abs", ALL), ("negative", ALL), ("square", ALL), ("sign", ALL), ("sqrt", FLOATS), ("exp", FLOATS),
        ("log", FLOATS), ("sin", FLOATS), ("tanh", FLOATS), ("arctan", FLOATS), ("floor", REALS), ("isfinite", FLOATS),
        ("reciprocal", FLOATS), ("expm1", REALS), ("log1p", REALS), ("cbrt", REALS), ("copy", ALL), ("nonzero", ALL),
        ("sum", ALL), ("prod", ALL), ("mean", FLOATS), ("var", REALS), ("std", REALS), ("max", ALL), ("argmin", ALL), ("all", ALL),
        ("count_nonzero", ALL), ("cumsum", ALL), ("sort", ALL), ("argsort", ALL), ("unique", ALL), ("diff", ALL), ("flip", ALL),
    )}
    two = {name: (types, binary(getattr(np, name))) for name, types in (
        ("add", ALL), ("subtract", ALL), ("multiply", ALL), ("divide", FLOATS), ("power", FLOATS), ("maximum", ALL),
        ("arctan2", REALS), ("hypot", REALS), ("remainder", ALL), ("floor_divide", ALL), ("greater", ALL), ("equal", ALL),
        ("logical_and", ALL), ("bitwise_and", INTEGERS), ("left_shift", INTEGERS), ("dot", FLOATS),
    )}
    more = {
        "where": (ALL, condition),
        "take": (ALL, index),
        "searchsorted": (ALL, search),
        "concatenate": (ALL, lambda a, b: lambda: np.concatenate((a, b))),
        "transpose": (ALL, of_square(lambda m: np.ascontiguousarray(m.T))),
        "sum axis 0": (ALL, of_square(lambda m: np.sum(m, axis=0))),
        "sum axis 1": (ALL, of_square(lambda m: np.sum(m, axis=1))),
        "max axis 0": (ALL, of_square(lambda m: np.max(m, axis=0))),
        "matmul": (FLOATS, lambda a, b: lambda m=small(a), n=small(b): np.matmul(m, n)),
        "fft": (FLOATS, unary(np.fft.fft)),
        "fft2": (FLOATS, of_square(np.fft.fft2)),
    }
    return one | two | more


def cases(chosen):
    for name, (types, _) in functions().items():
        if not chosen or name in chosen:
            for kind in types:
                for size in SIZES:
                    yield name, kind, size


def worker():
    """Reads cases from standard input, and prints for each the seconds of one call, or nan and the reason."""
    import dpnp
    import numpy

    # Only results go to the parent, because libraries print warnings.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    table, queue = functions(), dpnp.zeros(1).sycl_queue
    current, call = None, None
    for line in sys.stdin:
        case = json.loads(line)
        name, kind, size = case
        try:
            if case != current:
                random = numpy.random.default_rng(7)
                a, b = (random.random(size) * 100 + 1 for _ in range(2))
                if name in ("left_shift",):
                    b %= 7
                if name in ("power", "prod", "exp", "expm1"):
                    a, b = a / 100 + 0.5, b / 100 + 0.5
                current, call = case, table[name][1](*(dpnp.asarray(v.astype(kind)) for v in (a, b)))
                for _ in range(2):
                    call()
                queue.wait()
            calls, begin, processor = 0, time.perf_counter(), time.process_time()
            while True:
                call()
                queue.wait()
                calls += 1
                spent = time.perf_counter() - begin
                if spent > TURN:
                    break
            processor = time.process_time() - processor
            print(json.dumps([spent / calls, processor / calls, ""]), file=answers, flush=True)
        except Exception as error:  # any failure of a runtime is the case's result
            print(json.dumps([math.nan, math.nan, repr(error)[:200]]), file=answers, flush=True)


class Runtime:
    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            [*command, sys.executable, __file__, "--worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment,
        )

    def measure(self, case):
        try:
            print(json.dumps(case), file=self.process.stdin, flush=True)
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.process.kill()
            return [math.nan, math.nan, f"the process ended with {self.process.wait()}"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    if sys.argv[1:] == ["--worker"]:
        return worker()
    words = argparse.ArgumentParser()
    words.add_argument("--solum", required=True)
    words.add_argument("--intel", required=True)
    words.add_argument("--json")
    words.add_argument("--processes", type=int, default=3)
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    words.add_argument("functions", nargs="*")
    asked = words.parse_args()
    chosen = list(cases(set(asked.functions)))
    turns = [[] for _ in chosen]
    with tempfile.TemporaryDirectory() as vendors:
        with open(os.path.join(vendors, "intel.icd"), "w") as file:
            print(os.path.join(os.path.abspath(asked.intel), "libintelocl.so"), file=file)
        libraries = f"{sys.prefix}/lib:{os.path.abspath(asked.intel)}"
        opencl = {"OCL_ICD_VENDORS": vendors, "ONEAPI_DEVICE_SELECTOR": "opencl:cpu", "LD_LIBRARY_PATH": libraries}
        for number in range(asked.processes):
            runtimes = Runtime([asked.solum, "run", "--as", asked.device, "--"], {}), Runtime([], opencl)
            for at, (case, known) in enumerate(zip(chosen, turns)):
                place = f"process {number + 1} of {asked.processes}, case {at + 1} of {len(chosen)}"
                print(place, end="\r", file=sys.stderr)
                # The first turn of each compiles the kernels, and does not count.
                for runtime in runtimes:
                    runtime.measure(case)
                known += ([runtime.measure(case) for runtime in runtimes] for _ in range(asked.turns))
            for runtime in runtimes:
                runtime.end()
    rows, failed = [], 0
    print(f"{'function':14} {'type':4} {'size':>8} {'ours, us':>10} {'Intel, us':>10} {'ratio':>6} {'of CPU':>6}")
    for (name, kind, size), known in zip(chosen, turns):
        wall, processor = ([min(turn[side][what] for turn in known) for side in (0, 1)] for what in (0, 1))
        reasons = [answer[2] for turn in known for answer in turn if answer[2]]
        failed += bool(reasons)
        row = {"bench": "dpnp", "peer": "intel", "function": name, "type": kind, "size": size}
        row |= {"ours_s": wall[0], "intel_s": wall[1], "ratio": wall[1] / wall[0]}
        row["processor_ratio"] = processor[1] / max(processor[0], 1e-9)
        rows.append(row)
        print(
            f"{name:14} {kind:4} {size:8} {wall[0] * 1e6:10.1f} {wall[1] * 1e6:10.1f} {row['ratio']:6.2f}"
            f" {row['processor_ratio']:6.2f}  {' '.join(reasons[:1])}",
            flush=True,
        )
    for what, key in (("wall time", "ratio"), ("processor time", "processor_ratio")):
        good = [row[key] for row in rows if row[key] > 0]
        if good:
            mean = math.exp(sum(map(math.log, good)) / len(good))
            below = sum(ratio < 0.9 for ratio in good)
            print(f"{what}: {len(good)} cases, geometric mean {mean:.2f}, least {min(good):.2f}, {below} below 0.9")
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
