"""The proxied connections as a whole, and the verbs that change their weather."""

import asyncio
import random

from tests.system.link import Link, Side, Tally, Weather


class Network:
    """The proxy itself, in the loop it lives in. Its public verbs are those that `Controls` passes on."""

    def __init__(self, to: tuple[str, int], seed: int) -> None:
        self._to = to
        self._chance = random.Random(seed)
        self._weather = Weather()
        self._tally = Tally()
        self._links: set[Link] = set()

    async def open(self) -> int:
        server = await asyncio.get_running_loop().create_server(self._link, "127.0.0.1", 0)
        self._server = server
        return int(server.sockets[0].getsockname()[1])

    def _link(self) -> Side:
        return Link(self._to, self._weather, self._tally, self._chance, self._links).client

    def cut(self) -> None:
        self._weather.silent = True
        self.sever()

    def sever(self) -> None:
        for link in list(self._links):
            link.die()

    def reset(self) -> None:
        for link in list(self._links):
            link.reset()

    def refuse(self) -> None:
        self._weather.refusing = True
        self.reset()

    def slow(self, seconds: float) -> None:
        self._weather.latency = seconds

    def trickle(self, rate: int) -> None:
        self._weather.trickle = rate

    def lose_replies(self, one_in: int) -> None:
        self._weather.lose = one_in

    def mend(self) -> None:
        for name, calm in vars(Weather()).items():
            setattr(self._weather, name, calm)
        for link in list(self._links):
            link.bury()

    def counts(self) -> dict[str, int]:
        return {"open": len(self._links), **vars(self._tally)}

    async def close(self) -> None:
        self._server.close()
        self.reset()
        await asyncio.sleep(0)
