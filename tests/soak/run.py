"""`./x soak [MINUTES]`: repeats tests of rare failures, and prints how often they failed.

Each kind of program runs in turn until the time is over: programs that end at awkward moments, threads that are cancelled
inside calls, programs under limits of the system, and peers that forge handles. Exit code 0: all ended as they should.
"""

import argparse
import collections
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

# The slowest program takes some seconds on a busy machine: after this time it hangs.
HANGS = 300
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Soak:
    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.said = {}
        self.random = random.Random(options.seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="solum-soak-"))
        self.environment = dict(os.environ, LD_LIBRARY_PATH=str(options.libraries),
                                SOLUM_ARTEFACTS=str(options.libraries))

    def run(self, kind, command, limits=(), environment=None):
        """Runs one program and counts its end."""
        def limit():
            for what, value in limits:
                resource.setrlimit(what, (value, value))

        try:
            done = subprocess.run(command, env=dict(self.environment, **(environment or {})), timeout=HANGS,
                                  preexec_fn=limit if limits else None, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            code, text = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            code, text = "hang", late.stdout or b""
        end = "ended normally" if code == 0 else f"exit code {code}" if code == "hang" or code > 0 else f"signal {-code}"
        self.counts[kind, end] += 1
        if code != 0:
            self.said[kind, end] = text.decode(errors="replace")[-2000:]

    def endings(self):
        self.run("endings (24 programs each)", [self.options.libraries / "endings", "--times", "4"])

    def cancels(self):
        cache = self.folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(mode=0o700)
        seed = str(self.random.randrange(1 << 31))
        self.run("100 cancelled threads", [self.options.cancel, self.options.kernels, "100", seed],
                 environment={"SOLUM_CACHE_DIR": str(cache)})

    def limits(self):
        kibi, mebi = 1 << 10, 1 << 20
        program = [self.options.libraries / "examples" / "mandelbrot", "/dev/null"]
        cold = {"SOLUM_CACHE": "0"}
        size = self.random.choice([0, 1, 16, 1000, 4096, 100_000, 300_000])
        self.run("limit on file sizes", program, [(resource.RLIMIT_FSIZE, size * kibi)], cold)
        # Less than this is too little for the program itself.
        room = self.random.randrange(700, 4000)
        self.run("limit on address space", program, [(resource.RLIMIT_AS, room * mebi)], cold)
        files = self.random.randrange(12, 64)
        self.run("limit on descriptors", program, [(resource.RLIMIT_NOFILE, files)], cold)

    def peers(self):
        self.run("hostile peers, forks and faults",
                 ["cargo", "test", "--quiet", "-p", "solum-ze-cpu", "--test", "process", "--manifest-path", ROOT / "Cargo.toml"], environment={"LD_LIBRARY_PATH": ""})

    def go(self):
        end = time.monotonic() + 60 * self.options.minutes
        turn = 0
        while time.monotonic() < end:
            for kind in [self.endings, self.cancels, self.limits, self.peers]:
                kind()
            turn += 1
            left = max(0, end - time.monotonic())
            print(f"soak: {turn} rounds, {sum(self.counts.values())} programs, "
                  f"{self.abnormal()} ended abnormally, {left / 60:.0f} minutes left", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)

    def abnormal(self):
        return sum(count for (_, end), count in self.counts.items() if end != "ended normally")

    def tell(self):
        for (kind, end), count in sorted(self.counts.items()):
            print(f"{kind:36} {count:6}  {end}")
        for (kind, end), text in sorted(self.said.items()):
            print(f"\n--- {kind}: {end}: last words\n{text}")
        return 1 if self.abnormal() else 0


def main():
    parser = argparse.ArgumentParser(prog="./x soak")
    parser.add_argument("minutes", nargs="?", type=float, default=10)
    parser.add_argument("--libraries", type=pathlib.Path, required=True)
    parser.add_argument("--cancel", type=pathlib.Path, required=True)
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    print(f"soak: seed {options.seed}", file=sys.stderr)
    soak = Soak(options)
    soak.go()
    return soak.tell()


if __name__ == "__main__":
    sys.exit(main())
