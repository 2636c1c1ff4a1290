"""How long kernel-bound jobs take in ranks that share the machine: `bench_ranks.py --solum PROGRAM -- MPIEXEC... -- PYTHON`.

Runs share_job.py as one process and as some ranks, in turns, and prints the medians and their ratio. Without a pass or a
fail: the numbers depend on the machine and on its other load.
"""
import argparse
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
parser = argparse.ArgumentParser()
parser.add_argument("--solum", required=True)
parser.add_argument("--mpiexec", required=True, help="the launcher and its options, but the number of ranks")
parser.add_argument("--python", required=True)
parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()


def seconds(job, ranks):
    launcher = [*arguments.mpiexec.split(), "-n", str(ranks)] if ranks > 1 else []
    command = [arguments.solum, "run", "--", *launcher, arguments.python, str(HERE / "share_job.py"), job]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(found.stdout.split()[-1])


print(f"{'job':<14}{'one process':>12}" + "".join(f"{f'{ranks} ranks':>12}{'ratio':>8}" for ranks in arguments.ranks))
for job in ("element_wise", "small", "products"):
    times = {ranks: [] for ranks in [1, *arguments.ranks]}
    for _ in range(arguments.rounds):
        for ranks, taken in times.items():
            taken.append(seconds(job, ranks))
    medians = {ranks: statistics.median(taken) for ranks, taken in times.items()}
    line = f"{job:<14}{medians[1]:>10.3f} s"
    for ranks in arguments.ranks:
        line += f"{medians[ranks]:>10.3f} s{medians[ranks] / medians[1]:>8.2f}"
    print(line, flush=True)
