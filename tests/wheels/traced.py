"""Does `solum trace` follow an unmodified program of DPC++'s runtime from its source to its device work?

use: traced.py --solum SOLUM --out FOLDER [--as cpu|gpu] [--copies] [--line FILE:LINE]... [--shown PAGE] -- PROGRAM...

Runs the program under `solum trace` and checks the summary, the graph and the timeline. Exit status 0 when the program
passed, kernels (with --copies, copies) ran on the device that was asked for, Unified Runtime and Level Zero calls and SYCL commands were told, calls
and device work carry the location's id, and each --line has device time. With --shown, the report is as the page shows it below
"## The summary", up to times and the device.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

CALLS = "calls, by self time"


def bare(line, is_varying):
    """A line without times, shares and their bars; if it varies from run to run, without any number and device."""
    line = re.sub(r"[\d.]+ (ns|µs|ms|s|%)(?!\w)", "#", line).replace("█", "")
    if is_varying:
        line = re.sub(r"[\d.]+", "#", re.sub(r"^ .*(?= queue \d+ )", "  DEVICE", line))
    return " ".join(line.split())


def sections(report):
    """The lines of a report, by its sections' first lines. Which queue takes which command varies."""
    all_sections, name = {}, None
    for line in report.splitlines():
        if line.endswith("/") and not line.startswith(" "):
            break  # The folder and its files end the report.
        if not line:
            name = None
        elif name is None:
            name = bare(line, True)
            all_sections[name] = set()
        else:
            all_sections[name].add(bare(line, name == "queues"))
    return all_sections


def differences(page, report, summary):
    """Where a report is not as the page shows it. Other calls may be the slowest ones: those shown are there."""
    sample = page.read_text().split("## The summary\n", 1)[1].split("```\n", 2)[1]
    shown, told = sections(sample), sections(report)
    told_calls = {(call["name"], call["api"]) for call in summary["calls"]}
    wrong = []
    for name in sorted(shown.keys() | told.keys()):
        lines = shown.get(name, set()), told.get(name, set())
        if name not in shown or name not in told:
            wrong.append(f"{page}: {name!r} is {'shown' if name in shown else 'told'} alone")
        elif name.startswith(CALLS):
            calls = {(line.split()[0], line.split()[-1]) for line in lines[0]}
            wrong += [f"{page}: no call {call}" for call in sorted(calls - told_calls)]
        else:
            wrong += [f"{page}: {name}: shown alone: {line}" for line in sorted(lines[0] - lines[1])]
            wrong += [f"{page}: {name}: told alone: {line}" for line in sorted(lines[1] - lines[0])]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solum", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--as", dest="device", choices=("cpu", "gpu"), default="gpu")
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("--line", action="append", default=[])
    parser.add_argument("--shown", type=pathlib.Path)
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
    if arguments.shown:
        wrong += differences(arguments.shown, run.stderr, summary)
    print(f"{len(kernels)} kinds of device work, {len(summary['calls'])} kinds of calls, {len(graph['commands'])} commands, {len(starts)} arrows")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
