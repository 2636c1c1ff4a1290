#!/usr/bin/env python3
"""Every built-in function of OpenCL C, through clang's SPIR-V back end and our front end.

clang's own header declares the functions. A kernel calls each overload once, clang compiles the kernels for each version of
the language with and without optimisation, and the front end (`front_all` of kernel-ir) builds them. An overload that clang
does not compile is counted; one that the front end rejects, or leaves unresolved, is an error unless REFUSED gives a reason.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ["CL1.2", "CL2.0", "CL3.0"]
# Without extensions of SPIR-V clang takes fewer functions, and writes some otherwise. Without its whole header, which is
# compiled once, it knows none of Intel's.
WAYS = {"O0": ["-O0"], "O2": ["-O2"], "extended": ["-O2", "-mllvm", "--spirv-ext=all", "-cl-no-stdinc", "-include-pch"]}
BATCH = 128  # kernels of a module
LIMIT = 300  # seconds in which one call of clang ends, or hangs

# Functions that no device of this driver has, by pattern, and the reason.
REFUSED = {
    r"ndrange_\dD|enqueue_marker|(retain|release)_event|create_user_event|set_user_event_status|is_valid_event"
    r"|capture_event_profiling_info|get_default_queue": "kernels do not enqueue kernels",
    r"is_valid_reserve_id|.*_pipe": "there are no pipes",
    r"intel_sub_group_(avc|ime)_.*": "there is no unit for motion estimation",
    r"amd_.*": "an extension of AMD's devices",
}
# The same by a part of a parameter's type.
REFUSED_TYPES = {"msaa": "images have one sample for each texel"}

# Values where the function takes no others.
CONSTANT = {
    "cl_mem_fence_flags": "CLK_GLOBAL_MEM_FENCE",
    "memory_order": "memory_order_seq_cst",
    "memory_scope": "memory_scope_device",
    "clk_profiling_info": "CLK_PROFILING_COMMAND_EXEC_TIME",
}
# Operands that must be constants: function, number of the operand.
LITERAL = {
    r"sub_group_clustered_reduce_.*": (1, "4"),
    r"sub_group_clustered_rotate": (2, "4"),
    r"get_(global|local|group|enqueued|num)_.*": (0, "1"),
}

Declaration = collections.namedtuple("Declaration", "result name parameters")


def declarations(clang, version):
    """The header's declarations for `version`, with all extensions."""
    command = [clang, "-E", "-P", f"-cl-std={version}", "--target=spirv64", "-Xclang", "-cl-ext=+all", "-x", "cl"]
    header = '#include "opencl-c.h"\n'
    text = subprocess.run([*command, "-"], input=header, capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    while True:
        plain = re.sub(r"__attribute__\s*\(\([^()]*(\([^()]*(\([^()]*\))?[^()]*\))?[^()]*\)\)", "", text)
        if plain == text:
            break
        text = plain
    found = {}
    for statement in text.split(";"):
        statement = " ".join(statement.split())
        match = re.fullmatch(r"([\w\s*]*?[\w*])\s*\b(\w+)\s*\(([^()]*)\)", statement)
        if not match or match[1].startswith(("typedef", "return")) or match[2] == "printf":
            continue
        parameters = [p.strip() for p in match[3].split(",")]
        parameters = [] if parameters in ([""], ["void"]) else parameters
        found.setdefault(Declaration(match[1].strip(), match[2], tuple(map(plain_type, parameters))))
    return list(found)


def whole_header(clang, version, folder):
    """The header, compiled."""
    source, made = folder / "header.clh", folder / "header.pch"
    source.write_text('#include "opencl-c.h"\n')
    command = [clang, "-w", f"-cl-std={version}", "--target=spirv64", "-O2", "-Xclang", "-cl-ext=+all", "-cl-no-stdinc",
               "-x", "cl-header", str(source), "-o", str(made)]
    subprocess.run(command, check=True, timeout=LIMIT)
    return made


def plain_type(parameter):
    """A parameter's type: without its name."""
    parameter = re.sub(r"\s+", " ", parameter.replace("*", " * ")).strip()
    words = parameter.split(" ")
    keywords = {"const", "volatile", "restrict", "__restrict", "unsigned", "*", "__global", "__local", "__private", "__constant",
                "__generic", "global", "local", "private", "constant", "read_only", "write_only", "read_write", "__read_only",
                "__write_only", "__read_write"}
    types = [word for word in words if word not in keywords]
    if len(types) > 1 and words[-1] == types[-1] and "[" not in words[-1]:
        words = words[:-1]
    return " ".join(words)


SPACES = ["__global", "__local", "__private", "__constant"]


def kernel(declaration, number):
    """A kernel that calls the function once."""
    parameters, setup, operands = ["__global char *in", "__global char *out", "__local char *tile"], [], []
    for index, parameter in enumerate(declaration.parameters):
        literal = next((value for pattern, (at, value) in LITERAL.items()
                        if at == index and re.fullmatch(pattern, declaration.name)), None)
        words = parameter.split(" ")
        if literal:
            operands.append(literal)
        elif parameter in CONSTANT:
            operands.append(CONSTANT[parameter])
        elif "*" in words or "[" in parameter:
            operands.append(pointer(words, index, parameters, setup))
        elif "image" in parameter:
            parameters.append(f"{parameter} image{index}")
            operands.append(f"image{index}")
        elif parameter == "sampler_t":
            parameters.append(f"sampler_t sampler{index}")
            operands.append(f"sampler{index}")
        elif parameter == "event_t":
            setup.append(f"event_t event{index};")
            operands.append(f"event{index}")
        elif parameter == "...":
            continue
        elif parameter == "bool":
            operands.append(f"in[{64 * index}] != 0")
        else:
            plain = " ".join(word for word in words if word not in ("const", "volatile"))
            operands.append(f"*(__global {plain} *)(in + {128 * index})")
    call = f"{declaration.name}({', '.join(operands)})"
    if declaration.result == "void":
        body = f"{call};"
    elif declaration.result == "event_t":
        body = f"event_t done = {call}; wait_group_events(1, &done);"
    elif "*" in declaration.result:
        body = f"*(__global ulong *)out = (ulong){call};"
    elif declaration.result == "bool":
        body = f"*out = {call};"
    else:
        body = f"*(__global {declaration.result} *)out = {call};"
    return f"__kernel void k{number}({', '.join(parameters)}) {{ {' '.join([*setup, body])} }}\n"


def pointer(words, index, parameters, setup):
    """An operand that is a pointer."""
    space = next((word for word in words if word in SPACES), None)
    element = [word for word in words if word not in (*SPACES, "*", "const", "volatile", "restrict", "__generic")]
    element = " ".join(element).split("[")[0].strip()
    if element == "event_t":
        setup.append(f"event_t event{index};")
        return f"&event{index}"
    if element == "void":
        element = "int"
    if space == "__global":
        return f"(__global {element} *)(in + {128 * index})"
    if space == "__local":
        return f"(__local {element} *)tile"
    if space == "__constant":
        parameters.append(f"__constant {element} *table{index}")
        return f"table{index}"
    if space == "__private" or not space and "[" in words[-1]:
        setup.append(f"{element} own{index}[16] = {{0}};")
        return f"own{index}"
    # Generic: where the version has that space; one's own memory elsewhere.
    setup.append(f"{element} own{index}[16]; ")
    return f"in[0] ? ({element} *)(__global {element} *)in : own{index}" if GENERIC else f"own{index}"


GENERIC = False


HEAD = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"


def compiled(clang, options, kernels, file):
    """Compiles the kernels, one a line, to a module; returns clang's errors, or nothing."""
    source = file.with_suffix(".cl")
    source.write_text(HEAD + "".join(kernels))
    command = [clang, "-w", "-ferror-limit=0", "--target=spirv64", "-Xclang", "-cl-ext=+all", *options, "-c", "-x", "cl",
               str(source), "-o", str(file)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "hangs"
    return "" if ran.returncode == 0 and file.exists() else ran.stderr or "fails"


def module(clang, options, numbered, file):
    """A module of the kernels that clang compiles: those, and the others with a reason."""
    kept, failed = list(numbered), []
    while kept:
        file.unlink(missing_ok=True)
        words = compiled(clang, options, [text for _, _, text in kept], file)
        if not words:
            break
        reasons = {}
        for line, reason in re.findall(r"\.cl:(\d+):\d+: error: (.*)", words):
            if int(line) > 1:
                reasons.setdefault(int(line) - 2, reason)
        backend = re.search(r"error in backend: (.*)", words)
        reason = backend[1] if backend else "clang crashes"
        named = re.search(r"error in backend: (\w+): the builtin", words)
        at = re.search(r"on function '@k(\d+)'", words)
        if not reasons and named:
            reasons = {i: reason for i, (d, _, _) in enumerate(kept) if d.name == named[1]}
        if not reasons and at:
            reasons = {i: reason for i, (_, number, _) in enumerate(kept) if number == int(at[1])}
        if not reasons and len(kept) > 1:
            # The error does not name the kernel, so each is compiled alone.
            reasons = {i: compiled(clang, options, [text], file) for i, (_, _, text) in enumerate(kept)}
            reasons = {i: reason for i, why in reasons.items() if why}
        if not reasons:
            reasons = {0: reason} if len(kept) == 1 else {i: "clang fails on all of them together" for i in range(len(kept))}
        failed += [(kept[i][0], why) for i, why in reasons.items()]
        kept = [one for i, one in enumerate(kept) if i not in reasons]
    return kept, failed


def complaints(front, folder):
    """The front end's output, by file."""
    ran = subprocess.run([front, str(folder), "--each"], capture_output=True, text=True, check=True)
    said = {}
    for line in ran.stdout.splitlines():
        name, _, text = line.partition(": ")
        if name.endswith(".spv"):
            said[name] = text
    return said


def imported(file):
    """Names of the functions that a module imports."""
    words = struct.unpack(f"<{file.stat().st_size // 4}I", file.read_bytes())
    at, names = 5, set()
    while at < len(words):
        count = words[at] >> 16
        # OpDecorate ID LinkageAttributes NAME Import
        if words[at] & 0xFFFF == 71 and words[at + 2] == 41 and words[at + count - 1] == 1:
            text = struct.pack(f"<{count - 4}I", *words[at + 3 : at + count - 1]).split(b"\0")[0].decode()
            if not text.startswith("__spirv_BuiltIn"):
                names.add(text)
        at += count
    return names


def main():
    global GENERIC
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--front", required=True, help="the program front_all")
    parser.add_argument("--version", action="append", choices=VERSIONS, help="of the language; all without it")
    parser.add_argument("--way", action="append", choices=WAYS, help="to compile; all without it")
    parser.add_argument("--only", default=".*", help="functions whose names match")
    parser.add_argument("--keep", help="folder in which sources and modules stay")
    parser.add_argument("--imports", action="store_true", help="list the functions that clang leaves as imports")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    wrong, imports = 0, collections.defaultdict(set)
    for version in args.version or VERSIONS:
        GENERIC = version != "CL1.2"
        known = [d for d in declarations(args.clang, version) if re.fullmatch(args.only, d.name)]
        refused = {d for d in known if any(re.fullmatch(pattern, d.name) for pattern in REFUSED)
                   or any(part in parameter for part in REFUSED_TYPES for parameter in d.parameters)}
        numbered = [(d, number, kernel(d, number)) for number, d in enumerate(known) if d not in refused]
        for way in args.way or WAYS:
            options = [f"-cl-std={version}", *WAYS[way]]
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(args.keep or temporary) / f"{version}-{way}"
                alone = folder / "alone"
                alone.mkdir(parents=True, exist_ok=True)
                if way == "extended":
                    options.append(str(whole_header(args.clang, version, folder)))
                modules, failed, singles = {}, [], {}
                with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                    work = {}
                    for at in range(0, len(numbered), BATCH):
                        file = folder / f"b{at:05}.spv"
                        work[file] = pool.submit(module, args.clang, options, numbered[at : at + BATCH], file)
                    for file, done in work.items():
                        modules[file.name], more = done.result()
                        failed += more
                        if args.imports and file.exists():
                            for found in imported(file):
                                imports[found].add(f"{version}-{way}")
                    # A module that is refused again as one for each kernel.
                    for name in complaints(args.front, folder):
                        for declaration, number, text in modules[name]:
                            file = alone / f"{number}.spv"
                            pool.submit(compiled, args.clang, options, [text], file)
                            singles[file.name] = declaration
                bad = collections.defaultdict(list)
                for name, text in complaints(args.front, alone).items():
                    bad[(singles[name].name, text)].append(singles[name])
                print(f"{version} {way}: {len(known)} overloads of {len({d.name for d in known})} functions; clang does not "
                      f"compile {len(failed)}, {len(refused)} are listed as refused, {sum(map(len, bad.values()))} fail")
                for (name, text), overloads in sorted(bad.items()):
                    print(f"  {name}, {len(overloads)} overloads: {text}")
                    wrong += len(overloads)
                left = collections.defaultdict(set)
                for declaration, why in failed:
                    left[why.splitlines()[0]].add(declaration.name)
                for why, functions in sorted(left.items()):
                    print(f"  clang: {why}: {', '.join(sorted(functions))}")
                sys.stdout.flush()
    for name, where in sorted(imports.items()):
        print(f"import {name}: {' '.join(sorted(where))}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
