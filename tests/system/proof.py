"""Runs for the record, by hand: `python -m tests.system.proof --help`.

    python -m tests.system.proof kill pause --times 30 --out build/proof     each of these kinds 30 times
    python -m tests.system.proof all --times 30                              every kind
    python -m tests.system.proof kill+postgres-stop --times 10               two that overlap
    python -m tests.system.proof pairs --times 10                            the chosen pairs
    python -m tests.system.proof soak --minutes 30 --rate 200                everything at once
    python -m tests.system.proof report build/proof                          docs/proof/faults.md and .json, pictures

A run that was interrupted goes on where it was when it is started again with the same folder. Several may run beside
each other. Exit status 1: a promise was broken, and the evidence is in the folder; 3: it hung and was ended.
"""

import argparse
import asyncio
import random
import signal
import sys
from pathlib import Path

from tests.system.faults import BY_NAME, FAULTS
from tests.system.proofs import prove, say, soak
from tests.system.records import Record
from tests.system.report import PAIRS, write


def kinds_of(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word == "all":
            found += [fault.name for fault in FAULTS]
        elif word == "pairs":
            found += PAIRS
        elif all(part in BY_NAME for part in word.split("+")):
            found.append(word)
        else:
            raise SystemExit(f"there is no fault {word!r}; there are {', '.join(BY_NAME)}, all, pairs, soak, report")
    return found


async def run(given: argparse.Namespace) -> list[Record]:
    """One kind after the other; told to end, everything is cleaned up first."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    if given.kinds == ["soak"]:
        return [await soak(given.minutes, given.rate or 200.0, given.ttl, given.out, given.seed, given.every)]
    rate = given.rate or 50.0
    return [await prove(kind, given.times, given.ttl, rate, given.out, given.seed) for kind in kinds_of(given.kinds)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="+", metavar="KIND")
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--ttl", type=float, default=8.0)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=20.0)
    parser.add_argument("--out", type=Path, default=Path("build/proof"))
    parser.add_argument("--docs", type=Path, default=Path("docs/proof"))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(31))
    given = parser.parse_args()
    if given.kinds[0] == "report":
        write([Path(folder) for folder in given.kinds[1:]] or [given.out], given.docs)
        return 0
    try:
        made = asyncio.run(run(given))
    except (asyncio.CancelledError, KeyboardInterrupt):
        say("interrupted; what is recorded stays")
        return 2
    broken = [one for record in made for one in record.facts["verdicts"] if not one["ok"]]
    failed = [error for record in made for error in record.facts["errors"]]
    say(f"{sum(len(record.facts['strikes']) for record in made)} strikes, {len(broken)} verdicts with violations")
    return 1 if broken or failed else 0


if __name__ == "__main__":
    sys.exit(main())
