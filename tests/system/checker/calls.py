"""The API log: one call of a verb per line, as its caller saw it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Call:
    """`ok` is None where no answer came: the call may or may not have taken effect."""

    op: str
    began: float
    ended: float
    ok: bool | None
    job: str | None = None
    key: str | None = None
    at: datetime | None = None
    intent: int | None = None
    answer: Any = None
    error: str | None = None
    spec: Any = None
    limit: int | None = None

    def said(self, name: str) -> Any:
        """One field of the answer, where there is one."""
        return self.answer.get(name) if isinstance(self.answer, Mapping) else None

    def items(self) -> list[Mapping[str, Any]]:
        """The answers to a batch: the answer itself, or the one list in it."""
        found = self.answer
        if isinstance(found, Mapping):
            found = next((value for value in found.values() if isinstance(value, list)), [found])
        return [one for one in found if isinstance(one, Mapping)] if isinstance(found, Sequence) else []


def read(log: Path) -> Iterator[Call]:
    """Every call, in the order it was written. A line cut off at the end was never answered to anyone."""
    if not log.exists():
        return
    for line in log.read_text().splitlines():
        try:
            facts = json.loads(line)
        except ValueError:
            continue
        yield Call(
            op=facts["op"],
            began=facts["began"],
            ended=facts["ended"],
            ok=facts.get("ok"),
            job=facts.get("job"),
            key=facts.get("key"),
            at=moment(facts.get("at")),
            intent=facts.get("intent"),
            answer=facts.get("answer"),
            error=facts.get("error"),
            spec=facts.get("spec"),
            limit=facts.get("limit"),
        )


def moment(value: Any) -> datetime | None:
    """A time as a log or an event writes it: ISO text, or seconds since 1970."""
    if value is None or value == "":
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return datetime.fromisoformat(str(value)).astimezone(UTC)
