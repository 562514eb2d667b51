"""`python -m tests.simulation --seeds 0 1000 --out FILE` runs a range, `--seed N --trace` shows one of them."""

import argparse
import asyncio
import os
import sys

from tests.cluster import private_cluster
from tests.simulation.bugs import PLANTED
from tests.simulation.report import run_range
from tests.simulation.session import Session


def main() -> int:
    given = _arguments()
    with private_cluster() as cluster:
        asyncio.run(cluster.make_template())
        if given.seed is None:
            first, last = given.seeds
            return run_range(cluster, range(first, last), given.jobs, given.out, given.bug)
        [name] = asyncio.run(cluster.make_cells(1))
        return _show(cluster.dsn(name), given.seed, given.bug, given.trace)


def _show(dsn: str, seed: int, bug: str | None, trace: bool) -> int:
    session = Session(dsn)
    result = session.run(seed, PLANTED[bug]() if bug else None, traced=trace)
    session.close()
    for line in result.trace or ():
        print(line)
    print(f"seed {seed}: {len(result.violations)} violations, {result.seconds:.1f} s, trace {result.trace_hash}")
    print(", ".join(f"{many} {name}" for name, many in result.counts.items()))
    for violation in result.violations:
        print(f"  {violation}")
    return 1 if result.violations else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--seed", type=int, help="one seed")
    what.add_argument("--seeds", type=int, nargs=2, metavar=("FROM", "TO"), help="a range, the end excluded")
    parser.add_argument("--trace", action="store_true", help="show everything that happened in the one seed")
    parser.add_argument("--bug", choices=PLANTED, help="plant a bug")
    parser.add_argument("--out", help="where to write the JSON of a range")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="so many processes, each with a database")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
