"""`python -m benchmarks.simulation calibrate | validate | run [--scale 1] [NAMES] | page`.

`make simulate` does all of it. `run` simulates the named scenarios, or all; a smaller scale simulates less time.
"""

import argparse
import json
import sys

from benchmarks.runs import RUNS
from benchmarks.simulation.calibration import calibrate
from benchmarks.simulation.report import keep, simulate, write_page
from benchmarks.simulation.scenarios import SCENARIOS
from benchmarks.simulation.validation import TRIES, validate


def main(words: list[str]) -> int:
    """Do what the first word says."""
    parser = argparse.ArgumentParser(prog="benchmarks.simulation", description=__doc__)
    parser.add_argument("verb", choices=["calibrate", "validate", "run", "page"])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each load of the validation")
    parser.add_argument("--tries", type=int, default=TRIES, help="of a run that others disturb")
    chosen = parser.parse_args(words)
    if chosen.verb == "calibrate":
        print(json.dumps(calibrate()["times"], indent=2))
    elif chosen.verb == "validate":
        found = validate(chosen.runs, chosen.tries)
        keep("validation", found)
        write_page()
        print("passed" if found["passed"] else "\n".join(found["missed"]))
    elif chosen.verb == "run":
        simulate(chosen.names, chosen.scale)
        write_page()
    else:
        write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
