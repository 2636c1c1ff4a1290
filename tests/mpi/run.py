"""Runs a test program in ranks and compares its failures with the known ones: `run.py NAME -- COMMAND...`.

The program prints a line "FAIL  WHAT: HOW" for each case that fails. expect/NAME.txt, where there is one, holds lines
"fail<TAB>WHAT<TAB>reason" for those that are known not to pass; * and ? as in a shell.

Exit code 0: everything as expected. 1: a case failed that is not listed, a listed one passed (take its line out), or the
program ended otherwise than by saying how many cases there were.
"""
import fnmatch
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
name, separator, *command = sys.argv[1:]
if separator != "--" or not command:
    sys.exit(__doc__.splitlines()[0])

known = {}
path = HERE / "expect" / f"{name}.txt"
for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
    if line and not line.startswith("#"):
        kind, what, reason = (line.split("\t") + ["", ""])[:3]
        if kind != "fail" or not reason:
            sys.exit(f"{path.name}:{number}: no 'fail<TAB>case<TAB>reason'")
        known[what] = reason

run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
try:
    # It takes half a minute where nothing else runs.
    output, _ = run.communicate(timeout=600)
except subprocess.TimeoutExpired:
    os.killpg(run.pid, signal.SIGKILL)
    sys.exit(f"{name}: no end after 600 s")
lines = output.splitlines()
failed = [line.removeprefix("FAIL").strip().rpartition(": ")[0] for line in lines if line.startswith("FAIL")]
# The status of a program in which cases failed is 1; launchers add their own words behind the last line.
summary = next((line for line in reversed(lines) if line.endswith(" wrong") and not line.startswith("FAIL")), None)
wrong = [f"{case} failed" for case in failed if not any(fnmatch.fnmatchcase(case, what) for what in known)]
wrong += [f"{what} is listed in {path.name} and passed" for what in known if not fnmatch.filter(failed, what)]
if summary is None or run.returncode not in ((0,) if not failed else (1,)):
    wrong.append(f"the program ended with {run.returncode}; its output:\n{output[-4000:]}")
for line in wrong:
    print(f"{name}: {line}")
print(f"{name}: {summary}" + (f", {len(failed)} of them known" if failed and not wrong else ""))
sys.exit(bool(wrong))
