"""Does `solum trace` follow an unmodified program of DPC++'s runtime from its source to its device work?

use: traced.py --solum SOLUM --out FOLDER [--as cpu|gpu] [--copies] [--line FILE:LINE]... -- PROGRAM...

Runs the program under `solum trace` and checks the summary, the graph and the timeline. Exit status 0 when the program
passed, kernels (with --copies, copies) ran on the device that was asked for, Unified Runtime and Level Zero calls and SYCL commands were told, calls
and device work carry the location's id, and each --line has device time.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solum", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--as", dest="device", choices=("cpu", "gpu"), default="gpu")
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("--line", action="append", default=[])
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    command = [arguments.solum, "trace", "--as", arguments.device, "-o", arguments.out, "--", *arguments.program]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    wrong = []
    if run.returncode != 0:
        sys.exit(f"exit status {run.returncode}\n{run.stdout}{run.stderr}")
    summary, graph, timeline = (json.loads((arguments.out / f"{name}.json").read_text()) for name in ("summary", "graph", "timeline"))
    if not summary["complete"] or summary["lost_records"] or len(summary["processes"]) != 1:
        wrong.append(f"one whole recording: complete {summary['complete']}, {summary['processes']}")
    kernels = [row for row in summary["kernels"] if row["name"].startswith("ze") == arguments.copies and row["total_ns"] > 0]
    if not kernels:
        wrong.append("nothing has time on a device")
    apis = {row["api"] for row in summary["calls"]}
    if not {"sycl", "ur", "level-zero"} <= apis:
        wrong.append(f"calls of {sorted(apis)} alone")
    devices = {queue["device"] for queue in summary["queues"]}
    if not any(f"{arguments.device.upper()}-typed" in device for device in devices):
        wrong.append(f"work on {sorted(devices)}")
    for line in arguments.line:
        if not any(line in row["source"] and row["device_ns"] > 0 for row in summary["lines"]):
            wrong.append(f"no device time of {line}: {[row['source'] for row in summary['lines']]}")
    if not any(command["critical"] for command in graph["commands"]):
        wrong.append("no critical path")
    events = timeline["traceEvents"]
    slices = {event["args"].get("uid") for event in events if event["ph"] == "X"} - {None}
    calls = {event["args"].get("uid") for event in events if event["ph"] == "B" and event["name"].startswith("ze")} - {None}
    if not slices & calls:
        wrong.append("no call has the location of its device work")
    starts, ends = ({event["id"] for event in events if event["ph"] == phase and event["cat"] == "flow"} for phase in "sf")
    if not starts or starts != ends:
        wrong.append(f"{len(starts)} arrows leave, {len(ends)} arrive")
    print(f"{len(kernels)} kinds of device work, {len(summary['calls'])} kinds of calls, {len(graph['commands'])} commands, {len(starts)} arrows")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
