"""Runs for the record: a kind of fault many times, or everything at once for a long time. None of them ever hangs."""

import asyncio
import math
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.system import measures, records
from tests.system.evidence import Strike
from tests.system.experiment import Experiment, Outcome, experimenting
from tests.system.faults import BY_NAME, FAULTS, Both, Fault
from tests.system.records import Record

PER_CLUSTER: Final = 15
"""Strikes before a fresh cluster: what the checker reads stays small."""
JUDGED: Final = 5
"""Strikes between two verdicts."""
LONGEST: Final = 600.0
"""Seconds that a strike may take with everything around it, beside the time it is held."""
FAILURES: Final = 3


class Watchdog:
    """Ends the process when nothing has moved for too long; the kernel ends the others with it."""

    def __init__(self) -> None:
        self._until = time.monotonic() + LONGEST
        threading.Thread(target=self._watch, daemon=True).start()

    def feed(self, seconds: float = LONGEST) -> None:
        self._until = time.monotonic() + seconds

    def leave(self) -> None:
        """There is nothing to watch any more."""
        self._until = math.inf

    def _watch(self) -> None:
        while time.monotonic() < self._until:
            time.sleep(1)
        say("nothing has moved for too long; what is recorded stays")
        os._exit(3)


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def named(kind: str) -> Fault:
    """A fault by its name, or two of them with a plus between."""
    first, _, second = kind.partition("+")
    return Both(BY_NAME[first], BY_NAME[second]) if second else BY_NAME[first]


async def prove(kind: str, times: int, ttl: float, rate: float, out: Path, seed: int) -> Record:
    """Strike so many times in all, counting those that are in the folder already; returns the record of this run."""
    fault, dog = named(kind), Watchdog()
    record = Record(out, kind, ttl, rate, seed)
    left = times - records.done(out, kind)
    failures = 0
    while left > 0 and failures < FAILURES:
        try:
            struck = await _round(fault, min(left, PER_CLUSTER), record, dog, random.Random(f"{seed}-{left}"))
        except Exception as error:  # the round is over, not the run
            failures += 1
            struck = 0
            record.fail(f"{type(error).__name__}: {error}")
            say(f"{kind}: {type(error).__name__}: {error}")
        left -= struck
        left = min(left, times - records.done(out, kind))
    dog.leave()
    return record


async def _round(fault: Fault, most: int, record: Record, dog: Watchdog, chance: random.Random) -> int:
    """Strikes at one cluster, until a violation or until there were enough of them."""
    ttl, rate = record.facts["ttl"], record.facts["rate"]
    dog.feed()
    record.facts["clusters"] += 1
    async with experimenting(ttl, rate, chance.getrandbits(32)) as experiment:
        if why := fault.impossible(experiment.cluster):
            raise RuntimeError(f"not here: {why}")
        for number in range(1, most + 1):
            dog.feed(fault.most(experiment.cluster) + LONGEST)
            outcome = await experiment.strike(fault)
            record.add(outcome)
            say(f"{record.facts['kind']} {len(record.facts['strikes'])}: {told(outcome)}")
            if (number % JUDGED == 0 or number == most) and not await judged(experiment, record):
                return number
    return most


async def judged(experiment: Experiment, record: Record) -> bool:
    """Whether every promise was kept. Where not, the evidence is."""
    verdict = await experiment.judge()
    kept = None
    if not verdict.ok:
        say(f"VIOLATED\n{verdict}")
        kept = record.folder / "evidence" / f"{record.name}-{len(record.facts['verdicts'])}"
        with suppress(Exception):
            await records.keep(experiment, verdict, kept)
    record.judge(verdict, kept)
    return verdict.ok


def told(outcome: Outcome) -> str:
    words = {
        "takeover": outcome.takeover,
        "first sent": outcome.first_sent,
        "full service": outcome.full_service,
        "settled": outcome.settled,
        "late p95": outcome.lateness.get("p95"),
        "late max": outcome.lateness.get("max"),
        "again": outcome.duplicates,
        "refused": outcome.refused,
        "stuck": outcome.stuck or None,
        "error": outcome.error,
    }
    return ", ".join(f"{name} {value}" for name, value in words.items() if value is not None)


async def soak(minutes: float, rate: float, ttl: float, out: Path, seed: int, every: float = 20.0) -> Record:
    """A random fault every so many seconds, whatever the others are doing; one verdict over all of it."""
    chance, dog = random.Random(seed), Watchdog()
    record = Record(out, "soak", ttl, rate, seed)
    dog.feed(minutes * 60 + 3 * LONGEST)
    record.facts["clusters"] = 1
    async with experimenting(ttl, rate, chance.getrandbits(32), disk="3g") as experiment:
        possible = [fault for fault in FAULTS if fault.impossible(experiment.cluster) is None]
        until = time.monotonic() + minutes * 60
        going: set[asyncio.Task[None]] = set()
        while time.monotonic() < until:
            fault = chance.choice(possible)
            task = asyncio.create_task(_soaked(experiment, fault, random.Random(chance.random()), record.fail))
            going.add(task)
            task.add_done_callback(going.discard)
            say(f"soak: {fault.name}, {len(going)} on, {(until - time.monotonic()) / 60:.1f} min left")
            await asyncio.sleep(every)
        await asyncio.gather(*going)
        await experiment.heal()
        await _measure_soak(experiment, record)
        await judged(experiment, record)
    dog.leave()
    return record


async def _soaked(experiment: Experiment, fault: Fault, chance: random.Random, fail: Callable[[str], None]) -> None:
    began = time.time()
    try:
        facts = await asyncio.wait_for(fault.happen(experiment.cluster, chance), fault.most(experiment.cluster) + 120)
    except Exception as error:
        facts = {"error": repr(error)}
        fail(f"{fault.name}: {error!r}")
    experiment.strikes.append(Strike(fault.name, began, time.time(), facts))
    with suppress(Exception):
        await experiment.cluster.ready(120)  # what a fault could not start again itself


async def _measure_soak(experiment: Experiment, record: Record) -> None:
    """The whole run as one outcome, and each fault by its times."""
    healed = time.time()
    outcome = Outcome("soak", experiment.began, healed)
    outcome.settled = await experiment.settle(120)
    await asyncio.sleep(10)
    await experiment.measure(outcome, {})
    calls = await asyncio.to_thread(measures.arrivals, experiment.cluster.target.ledger, experiment.began)
    outcome.facts = {
        "faults": [{"name": one.name, "began": one.began, "healed": one.healed} for one in experiment.strikes],
        "calls": len(calls),
        "calls_a_second": round(len(calls) / (healed - experiment.began), 1),
    }
    record.add(outcome)
    say(f"soak: {told(outcome)}")
