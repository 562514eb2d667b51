"""Plans: schedules as code."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from horae_client.aio.verbs import AsyncVerbs
from horae_client.asked import plans as asked
from horae_client.models import AppliedPlan, Plan

Jobs = Mapping[str, Mapping[str, Any]]
"""Declared jobs by name. A job has the fields of `jobs.create`, and `every` (seconds), `paused` and `shadow`."""


class AsyncPlans(AsyncVerbs):
    """Plans of the jobs that a source declares, as `jobs.yaml` and `@job` do. `owner` names the source."""

    async def make(self, owner: str, jobs: Jobs, *, prune: bool = False, force: bool = False) -> Plan:
        """Compare all jobs of a source with the stored jobs. Nothing is saved.

        `prune` removes the owner's jobs that are no longer declared; `force` overwrites what others changed, and adopts
        what they created.

        >>> plan = await client.plans.make("billing", {"report": {"cron": "0 2 * * *"}, "settle": {"every": 90}})
        >>> [(step.name, step.step) for step in plan.steps]
        [('report', 'create'), ('settle', 'create')]
        """
        return await self._ask(asked.make(owner, jobs, prune, force))

    async def apply(
        self,
        owner: str,
        jobs: Jobs,
        *,
        prune: bool = False,
        force: bool = False,
        on_part: Callable[[AppliedPlan], None] = lambda _part: None,
    ) -> AppliedPlan:
        """Change the jobs to what a source declares, except conflicts and refused steps.

        The server applies some hundred steps in a request; `on_part` is called with the answer of each.

        >>> declared = {"report": {"cron": "0 2 * * *"}, "settle": {"every": 90}}
        >>> applied = await client.plans.apply("billing", declared)
        >>> [(one.name, one.step, one.code) for one in applied.done]
        [('report', 'create', None), ('settle', 'create', None)]
        >>> again = await client.plans.apply("billing", declared)
        >>> again.counts, again.done
        ({'keep': 2}, [])
        """
        whole = part = await self._ask(asked.apply(owner, jobs, prune, force))
        on_part(part)
        while part.next is not None:
            part = await self._ask(asked.apply(owner, jobs, prune, force, part.next))
            on_part(part)
            whole = replace(whole, steps=whole.steps + part.steps, done=whole.done + part.done, next=part.next)
        return whole
