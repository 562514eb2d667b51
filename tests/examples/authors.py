"""Authors who submit articles and change their minds: well before the hour, around it, and after it."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import httpx2

FORBIDDEN = 0.03
"""The share of texts that an auditor rejects."""
NOTHING_LEFT, DIED = 409, 500


class Run(NamedTuple):
    """How many articles in how many seconds. Every time falls inside the run."""

    articles: int
    seconds: float
    kills: tuple[float, ...]


class Told(NamedTuple):
    """An answer: for which time, and what that meant."""

    version: int
    at: datetime
    decision: str
    heard: datetime


class Author:
    """Of one article. `told`: every time that was acknowledged. `lost`: the submission was never answered."""

    def __init__(self, number: int, run: Run, began: datetime, chance: random.Random) -> None:
        self.title = f"article {number}"
        self.rejected = chance.random() < FORBIDDEN
        self.chance = chance
        self.began = began
        self.last = began + timedelta(seconds=run.seconds - 5)
        self.submits = began + timedelta(seconds=chance.uniform(0, run.seconds * 0.75))
        self.told: list[Told] = []
        self.lost = False
        self.refused = 0

    async def live(self, people: httpx2.AsyncClient) -> None:
        """Submit, then change the time now and then."""
        await _until(self.submits)
        id_ = await self._submit(people)
        while id_ is not None and self.chance.random() < 0.4:
            await _until(self._moment())
            if not await self._change(people, id_):
                return

    async def _submit(self, people: httpx2.AsyncClient) -> str | None:
        at = self._time()
        body = "forbidden" if self.rejected else "fine"
        said = {"title": self.title, "body": body, "publish_time": at.isoformat()}
        answer = await people.post("/articles", json=said)
        if answer.status_code == DIED:
            self.lost = True
            return None
        self._heard(answer.raise_for_status().json())
        return answer.json()["id"]

    async def _change(self, people: httpx2.AsyncClient, id_: str) -> bool:
        answer = await people.put(f"/articles/{id_}/publish-time", json={"publish_time": self._time().isoformat()})
        if answer.status_code == NOTHING_LEFT:
            self.refused += 1
            return False
        self._heard(answer.raise_for_status().json())
        return True

    def _heard(self, said: dict) -> None:
        at = datetime.fromisoformat(said["publish_time"])
        self.told.append(Told(said["version"], at, said["decision"], datetime.now(UTC)))

    def _time(self) -> datetime:
        """Soon, sometimes at once; inside the run."""
        return min(datetime.now(UTC) + timedelta(seconds=self.chance.uniform(-1, 20)), self.last)

    def _moment(self) -> datetime:
        """When the next change comes: before the time that stands, around it, or after it."""
        stands, now = self.told[-1].at, datetime.now(UTC)
        match self.chance.randrange(4):
            case 0:
                return stands + timedelta(seconds=self.chance.uniform(-0.1, 0.5))
            case 1:
                return stands + timedelta(seconds=self.chance.uniform(0.5, 4))
            case _:
                return now + (stands - now) * self.chance.random()


async def _until(moment: datetime) -> None:
    await asyncio.sleep(max(0.0, (moment - datetime.now(UTC)).total_seconds()))
