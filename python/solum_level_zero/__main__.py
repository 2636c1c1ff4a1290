"""``python -m solum_level_zero``: the program ``solum``."""

import os
import sys

from solum_level_zero import program_path

if __name__ == "__main__":
    program = program_path()
    os.execv(program, [program, *sys.argv[1:]])
