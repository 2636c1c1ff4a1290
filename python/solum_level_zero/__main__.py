"""``python -m solum_level_zero``: the program ``solum``."""

import os
import sys

import solum_level_zero as solum


def main() -> None:
    try:
        program = solum.program_path()
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"solum: {solum._cannot_run(error)}")
    except solum.SolumError as error:
        sys.exit(f"solum: {error}")


if __name__ == "__main__":
    main()
