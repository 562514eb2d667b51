"""Resolves the parameters of steps that are about to be released, inside the transaction that releases them.

1. One statement each reads the results of steps, those of children, and the payloads of runs, for all steps of a round.
2. The values are decrypted with the tenant's keys, and the payload of the step job is filled in.
3. The resolved payload is encrypted for its instance, so that every attempt and a replay send the same.
4. A reference without a value and without a default makes the step DEAD: it is not sent with a null instead.
5. If a key cannot be had now, the run is left out for a while. Nothing about it is written.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec import UNSET

from horae.domain.encryption.encrypted_values import payload_of, result_of
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.graphs.graphs import GraphStep
from horae.domain.graphs.parameters import (
    ITEM_PAYLOAD,
    Lookup,
    Parameter,
    ParameterKind,
    RunFact,
    UnresolvedParameter,
    resolve,
)
from horae.domain.instances.results import MAX_RESULT_BYTES
from horae.domain.jobs.jobs import Job
from horae.domain.schedules.expected import previous_fire
from horae.domain.tasks.tasks import MAX_PAYLOAD_BYTES
from horae.repositories.definitions import Definitions
from horae.runtime.turns import LoopTurns
from horae.security.envelopes import DataKey
from horae.security.payload_cipher import encrypt_value
from horae.store.connections.held_connections import KeyNotLoaded
from horae.store.graphs import parameters
from horae.store.graphs.runs import OpenRun
from horae.store.graphs.steps import StepRow
from horae.store.tx import Tx

Versions = Mapping[tuple[UUID, int], Job]
StepPlace = tuple[UUID, int]
"""A run, and the position of a step in it."""


class ResolvingStep(NamedTuple):
    """A step whose parameters are wanted, with all steps of its run by name."""

    run: OpenRun
    step: GraphStep
    rows: Mapping[str, StepRow]


class ReadValues(NamedTuple):
    """What was read for some steps. Values that could not be decrypted are exceptions."""

    results: dict[UUID, Any]
    children: dict[StepPlace, Any]
    payloads: dict[UUID, Any]
    jobs: Versions


class ParameterReader:
    """Reads and decrypts what parameters take, and encrypts resolved payloads. One round of one cell at a time."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._cipher = definitions.cipher
        self._keys: dict[UUID, DataKey | KeysUnavailable | None] = {}

    def begin_round(self) -> None:
        """Forget the keys of the last round, because they may have been rotated."""
        self._keys.clear()

    async def read(self, tx: Tx, wanted: Sequence[ResolvingStep], known: Versions) -> ReadValues:
        """Read everything that these steps take. `known` are the graphs of their runs."""
        found = ReadValues({}, {}, {}, {})
        if not wanted:
            return found
        owners: dict[UUID, UUID] = {}
        places: set[tuple[int, UUID]] = set()
        mapped: dict[StepPlace, tuple[OpenRun, StepRow]] = {}
        for one in wanted:
            for name in one.step.reads:
                row = one.rows[name]
                if row.children is not None:
                    mapped[one.run.id, row.position] = one.run, row
                elif row.instance_id is not None:
                    places.add((one.run.shard, row.instance_id))
                    owners[row.instance_id] = one.run.tenant_id
        for id_, body in (await parameters.results(tx, places) if places else {}).items():
            found.results[id_] = await self._decrypt(owners[id_], result_of(id_), body)
        if mapped:
            await self._read_children(tx, mapped, found.children)
        runs = {one.run.id: one.run for one in wanted if one.step.reads_payload}
        if runs:
            for had in await parameters.payloads(tx, [(run.shard, run.id) for run in runs.values()]):
                run = runs[had.run_id]
                payload = await self._decrypt(run.tenant_id, payload_of(run.job_id, had.idem_key), had.payload)
                found.payloads[had.run_id] = UNSET if payload is None else payload
        steps = {(one.run.shard, one.step.job_id, one.step.job_version) for one in wanted if one.step.parameters}
        jobs = await self._definitions.load(tx, steps) if steps else {}
        return found._replace(jobs={**known, **jobs})

    async def _read_children(
        self, tx: Tx, mapped: Mapping[StepPlace, tuple[OpenRun, StepRow]], found: dict[StepPlace, Any]
    ) -> None:
        turns, too_large = LoopTurns(), set[StepPlace]()
        lists = {place: [None] * (row.children or 0) for place, (_, row) in mapped.items()}
        sizes: defaultdict[StepPlace, int] = defaultdict(int)
        for one in await parameters.results_of_children(
            tx, [(run.shard, run.id, row.position) for run, row in mapped.values()]
        ):
            place = one.run_id, one.position
            if one.body is None:
                too_large.add(place)
                continue
            value = await self._decrypt(mapped[place][0].tenant_id, result_of(one.instance_id), one.body)
            if isinstance(value, Exception):
                found[place] = value
            lists[place][one.number] = value
            sizes[place] += len(msgspec.json.encode(value)) if not isinstance(value, Exception) else 0
            await turns.yield_if_long()
        for place, values in lists.items():
            if place in too_large or sizes[place] + len(values) > MAX_RESULT_BYTES:
                found[place] = UnresolvedParameter(
                    f"the results of its children have more than {MAX_RESULT_BYTES} bytes"
                )
            else:
                found.setdefault(place, values)

    async def _decrypt(self, tenant_id: UUID, spot: Any, value: Any) -> Any:
        try:
            return await self._cipher.decrypt(tenant_id, spot, value)
        except (KeysUnavailable, Unopenable) as error:
            return error

    def looking_up(self, one: ResolvingStep, values: ReadValues, item: Any = UNSET) -> Lookup:
        """Return a function for the values of a step. It may raise `UnresolvedParameter` or `KeysUnavailable`."""

        def look_up(parameter: Parameter) -> Any:
            found = item if parameter.kind == ParameterKind.ITEM else _value(one, values, parameter)
            if isinstance(found, Unopenable):
                raise UnresolvedParameter(f"{parameter}: {found}")
            if isinstance(found, Exception):
                raise found
            return found

        return look_up

    def payload_of_step(self, one: ResolvingStep, values: ReadValues, idem_key: str, item: Any = UNSET) -> Any:
        """Return the encrypted payload of a new instance of a step; None if the step has no parameters."""
        step = one.step
        if not step.parameters:
            return None
        job = values.jobs.get((step.job_id, step.job_version))
        if job is None or job.definition.sealed is not None:
            raise KeysUnavailable("the definition of a step cannot be decrypted now")
        template = ITEM_PAYLOAD if job.definition.payload is None else job.definition.payload
        payload = resolve(template, self.looking_up(one, values, item))
        if payload is None:
            raise UnresolvedParameter("the payload is null")
        if len(msgspec.json.encode(payload)) > MAX_PAYLOAD_BYTES:
            raise UnresolvedParameter(f"the payload has more than {MAX_PAYLOAD_BYTES} bytes")
        return encrypt_value(self._key(one.run.tenant_id), payload_of(step.job_id, idem_key), payload)

    def _key(self, tenant_id: UUID) -> DataKey | None:
        """The newest key of a tenant. One that is not in memory is read between two tries of the transaction."""
        key = self._cipher.key_in_memory(tenant_id) or self._keys.get(tenant_id)
        if isinstance(key, KeysUnavailable):
            raise key
        if key is None and tenant_id not in self._keys:
            raise KeyNotLoaded(lambda: self._ask(tenant_id))
        return key

    async def _ask(self, tenant_id: UUID) -> None:
        try:
            self._keys[tenant_id] = await self._cipher.key(tenant_id)
        except KeysUnavailable as error:
            self._keys[tenant_id] = error


def _value(one: ResolvingStep, values: ReadValues, parameter: Parameter) -> Any:
    """The value that a parameter points into: UNSET where there is none, an exception where it cannot be had."""
    if parameter.kind == ParameterKind.RESULT:
        row = one.rows[parameter.name]
        if row.children is not None:
            return values.children.get((one.run.id, row.position), UNSET)
        return UNSET if row.instance_id is None else values.results.get(row.instance_id, UNSET)
    match RunFact(parameter.name):
        case RunFact.FIRE_TIME:
            return one.run.fire_time.isoformat()
        case RunFact.PREVIOUS_FIRE_TIME:
            graph = values.jobs.get((one.run.job_id, one.run.job_version))
            found = None if graph is None else previous_fire(graph.definition.trigger, one.run.fire_time)
            return UNSET if found is None else found.isoformat()
        case RunFact.PAYLOAD:
            return values.payloads.get(one.run.id, UNSET)
