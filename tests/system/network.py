"""The proxied connections as a whole, and the verbs that change their weather."""

import asyncio
import random

from tests.system.link import Link, Side, Tally, Weather


class Door:
    """One port to connect to, with its own weather: each node may have one."""

    def __init__(self, to: tuple[str, int], tally: Tally, chance: random.Random) -> None:
        self.weather = Weather()
        self.links: set[Link] = set()
        self._to = to
        self._tally = tally
        self._chance = chance

    async def open(self) -> int:
        self._server = await asyncio.get_running_loop().create_server(self._link, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        self._server.close()
        for link in list(self.links):
            link.reset()

    def _link(self) -> Side:
        return Link(self._to, self.weather, self._tally, self._chance, self.links).client


class Network:
    """The proxy itself, in the loop it lives in. Its public verbs are those that `Controls` passes on."""

    def __init__(self, to: tuple[str, int], doors: int, seed: int) -> None:
        self._tally = Tally()
        chance = random.Random(seed)
        self._doors = [Door(to, self._tally, chance) for _ in range(doors)]

    async def open(self) -> list[int]:
        return [await door.open() for door in self._doors]

    def cut(self, door: int | None) -> None:
        for one in self._meant(door):
            one.weather.silent = True
        self.sever(door)

    def sever(self, door: int | None) -> None:
        for link in self._links(door):
            link.die()

    def reset(self, door: int | None) -> None:
        for link in self._links(door):
            link.reset()

    def refuse(self, door: int | None) -> None:
        for one in self._meant(door):
            one.weather.refusing = True
        self.reset(door)

    def slow(self, door: int | None, seconds: float) -> None:
        for one in self._meant(door):
            one.weather.latency = seconds

    def trickle(self, door: int | None, rate: int) -> None:
        for one in self._meant(door):
            one.weather.trickle = rate

    def lose_replies(self, door: int | None, one_in: int) -> None:
        for one in self._meant(door):
            one.weather.lose = one_in

    def mend(self, door: int | None) -> None:
        for one in self._meant(door):
            for name, calm in vars(Weather()).items():
                setattr(one.weather, name, calm)
        for link in self._links(door):
            link.bury()

    def counts(self, door: int | None) -> dict[str, int]:
        return {"open": len(self._links(door)), **vars(self._tally)}

    async def close(self) -> None:
        for door in self._doors:
            door.close()
        await asyncio.sleep(0)

    def _meant(self, door: int | None) -> list[Door]:
        return self._doors if door is None else [self._doors[door]]

    def _links(self, door: int | None) -> list[Link]:
        return [link for one in self._meant(door) for link in one.links]
