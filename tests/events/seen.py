"""What a receiver saw of many jobs, kept small: a million events are two numbers each."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence


class Seen:
    """Each job's events in the order in which they came, however often each did."""

    def __init__(self, events: Iterable[dict] = ()) -> None:
        self._steps: dict[str, array] = defaultdict(lambda: array("l"))
        self._ids: dict[str, array] = defaultdict(lambda: array("q"))
        for event in events:
            self.add(event)

    def add(self, event: dict) -> None:
        data, job = event["data"], event["partitionkey"]
        self._steps[job].append(data["step"] if "step" in data else data["generation"])
        self._ids[job].append(hash(event["id"]))

    def __len__(self) -> int:
        return sum(len(steps) for steps in self._steps.values())

    def jobs(self) -> set[str]:
        return set(self._steps)

    def steps(self, job: str, first: int = 0, last: int | None = None) -> list[int]:
        """In the order in which they were first seen, each event once: two events of one step are two."""
        return list(_first_seen(self._steps[job][first:last], self._ids[job][first:last]))

    def all_steps(self) -> dict[str, list[int]]:
        return {job: self.steps(job) for job in self._steps}

    def go_on(self, later: "Seen") -> None:
        """The same receiver saw this afterwards."""
        for job, steps in later._steps.items():
            self._steps[job].extend(steps)
            self._ids[job].extend(later._ids[job])

    def beginning(self, job: str) -> int:
        """How many came before the job's first event did."""
        return self._steps[job].index(0)


def _first_seen(steps: Sequence[int], ids: Sequence[int]) -> Iterator[int]:
    known: set[int] = set()
    for step, id_ in zip(steps, ids, strict=True):
        if id_ not in known:
            known.add(id_)
            yield step
