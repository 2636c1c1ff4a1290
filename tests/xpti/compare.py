#!/usr/bin/env python3
"""Does an unmodified SYCL program send the same notifications with our XPTI framework as with Intel's?

use: compare.py --solum SOLUM --ours libxptifw.so.1 --venv VENV --out FOLDER

Each program runs under `solum run` with a subscriber that records every notification (sub_all.cpp), once with each framework.
The output of trace_fmt.py is compared: types, parents, instances, user data, payloads, metadata in its order, announced and
finished streams; not addresses, which differ from run to run, and not the stashed tuple, which Intel's never takes back.
Where a program's threads race, one form that both frameworks have shown counts as equal. Exit status 0 when all are equal.
"""

import argparse
import difflib
import os
import pathlib
import re
import struct
import subprocess
import sys

ATTEMPTS = 40
# The note of crates/library-mark, which all of our libraries have; and a symbol of a C++ library with Intel's class.
MARK = struct.pack("<3I8sI", 6, 4, 1, b"Solum", 1)
INTEL = b"_ZN4xpti9Framework"
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Streams that the subscriber hears, and the detail that it asks for, if any.
HEARD = [
    ("sycl", None),
    ("sycl", "0"),
    ("sycl", "3"),
    ("sycl.debug", None),
    ("ur.call", None),
    ("sycl,sycl.experimental.buffer,sycl.experimental.image,sycl.experimental.mem_alloc", None),
]


def check(file, is_ours):
    """Ends the program with a message if a file is not the expected library."""
    content = file.read_bytes() if file.is_file() else b""
    if is_ours and MARK not in content:
        sys.exit(f"{file} is not a library of Solum: nothing is compared")
    if not is_ours and (MARK in content or INTEL not in content):
        whose = "is a library of Solum" if MARK in content else "holds no Intel framework" if content else "is missing"
        sys.exit(f"{file} {whose}, not Intel's libxptifw.so.1: nothing is compared; install intel-sycl-rt into the environment anew")


def built(out, source, options):
    program = out / options.pop(0)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-std=c++17", "-O1", "-w", source, "-o", program, *options], check=True)
    return program


def record(args, framework, heard, program, recorder):
    streams, level = heard
    trace = args.out / f"{'ours' if framework == args.ours else 'intel'}.jsonl"
    trace.unlink(missing_ok=True)
    environment = os.environ | {
        "XPTI_TRACE_ENABLE": "1",
        "XPTI_FRAMEWORK_DISPATCHER": str(framework),
        "XPTI_SUBSCRIBERS": str(recorder),
        "XPTI_SUB_OUT": str(trace),
        "XPTI_SUB_STREAMS": streams,
        "UR_ENABLE_LAYERS": "UR_LAYER_TRACING",
    }
    if level is not None:
        environment["XPTI_SUB_LEVEL"] = level
    run = subprocess.run([args.solum, "run", "--", *program], env=environment, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"{program[-1]}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    shape = subprocess.run(
        [sys.executable, HERE / "trace_fmt.py", trace, "--shape"], check=True, capture_output=True, text=True
    ).stdout
    return re.sub(r" stash\(\w+\)=\d+", "", shape).splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("solum", "ours", "venv", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = parser.parse_args()
    library = args.venv / "lib"
    intel = library / "libxptifw.so.1"
    check(args.ours, True)
    check(intel, False)
    args.out.mkdir(parents=True, exist_ok=True)
    recorder = built(args.out, HERE / "sub_all.cpp", ["libsub_all.so", "-fPIC", "-shared", "-ldl"])
    buffers = built(
        args.out,
        HERE / "app_buffers.cpp",
        ["app_buffers", f"-I{args.venv}/include", f"-L{library}", "-lsycl", f"-Wl,-rpath,{library.resolve()}"],
    )
    programs = [[args.venv / "bin/python", ROOT / "tests/wheels/smoke_dpctl.py"], [buffers]]
    different = 0
    for program in programs:
        for heard in HEARD:
            theirs, ours = {}, {}
            for attempt in range(ATTEMPTS):
                for framework, shapes in ((intel, theirs), (args.ours, ours)):
                    shape = record(args, framework, heard, program, recorder)
                    shapes["\n".join(shape)] = shape
                if theirs.keys() & ours.keys():
                    break
            equal = bool(theirs.keys() & ours.keys())
            lines = next(iter(ours.values()))
            name = f"{program[-1].name} {heard[0]} at level {heard[1] or 'not set'}"
            print(f"{name}: {len(lines)} lines, {'equal' if equal else 'DIFFERENT'}", flush=True)
            if not equal:
                found = difflib.unified_diff(next(iter(theirs.values())), lines, "intel", "ours", lineterm="", n=0)
                print("\n".join(list(found)[:20]))
            different += not equal or len(lines) < 10
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
