"""How long the parts of a deployment take for their work, as `calibration` measured it."""

import json
from pathlib import Path
from typing import Final, Self

import msgspec

MEASURED: Final = Path(__file__).with_name("service_times.json")
RESULT_SHARE: Final = 0.5
"""The part of PostgreSQL's work for a call that writing its result is; the rest is firing it."""


class ServiceTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. Processor time unless it says otherwise.

    - `offer_s`, `fire_s`, `send_s`, `land_s`, `result_s`: what a node needs for one call in each step.
    - `node_statement_s`: what a node needs for a statement beside its rows.
    - `node_base_share`, `node_cell_share`: the parts of a core that an idle node needs, once and for each cell.
    - `postgresql_call_s`, `postgresql_statement_s`: what PostgreSQL needs for a call and for a statement.
    - `postgresql_base_share`, `postgresql_node_share`: what idle PostgreSQL needs, once and for each node.
    - `commit_s`, `round_trip_s`, `wake_up_s`: waiting, not work. The last is how late a call is on an idle machine, by
      timers, wake-ups and the network. `target_s`: what the target of the measurement needs for a call.
    """

    offer_s: float
    fire_s: float
    send_s: float
    land_s: float
    result_s: float
    node_statement_s: float
    node_base_share: float
    node_cell_share: float
    postgresql_call_s: float
    postgresql_statement_s: float
    postgresql_base_share: float
    postgresql_node_share: float
    commit_s: float
    round_trip_s: float
    wake_up_s: float
    target_s: float

    @property
    def node_call_s(self) -> float:
        """What a node needs for one call in all steps, without its statements."""
        return self.offer_s + self.fire_s + self.send_s + self.land_s + self.result_s

    @classmethod
    def read(cls, path: Path = MEASURED) -> Self:
        """The measured times."""
        return msgspec.convert(json.loads(path.read_text())["times"], cls)
