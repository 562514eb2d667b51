"""Plans: schedules as code."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from horae_client.asked import plans as asked
from horae_client.models import AppliedPlan, Plan
from horae_client.sync.verbs import Verbs

Jobs = Mapping[str, Mapping[str, Any]]
"""Declared jobs by name. A job has the fields of `jobs.create`, and `every` (seconds), `paused` and `shadow`."""
Windows = Mapping[str, Mapping[str, float]]
"""Spread windows by the name of the job: `window` in seconds, and the `version` of the job that it was proposed for."""


class Plans(Verbs):
    """Plans of the jobs that a source declares, as `jobs.yaml` and `@job` do. `owner` names the source."""

    def make(self, owner: str, jobs: Jobs, *, prune: bool = False, force: bool = False) -> Plan:
        """Compare all jobs of a source with the stored jobs. Nothing is saved.

        `prune` removes the owner's jobs that are no longer declared; `force` overwrites what others changed, and adopts
        what they created.

        >>> plan = client.plans.make("billing", {"report": {"cron": "0 2 * * *"}, "settle": {"every": 90}})
        >>> [(step.name, step.step) for step in plan.steps]
        [('report', 'create'), ('settle', 'create')]
        """
        return self._ask(asked.make(owner, jobs, prune, force))

    def apply(
        self,
        owner: str,
        jobs: Jobs,
        *,
        prune: bool = False,
        force: bool = False,
        on_part: Callable[[AppliedPlan], None] | None = None,
    ) -> AppliedPlan:
        """Change the jobs to what a source declares, except conflicts and refused steps.

        The server applies some hundred steps in a request; `on_part` is called with the answer of each.

        >>> declared = {"report": {"cron": "0 2 * * *"}, "settle": {"every": 90}}
        >>> applied = client.plans.apply("billing", declared)
        >>> [(one.name, one.step, one.code) for one in applied.done]
        [('report', 'create', None), ('settle', 'create', None)]
        >>> again = client.plans.apply("billing", declared)
        >>> again.counts, again.done
        ({'keep': 2}, [])
        """
        whole: AppliedPlan | None = None
        while whole is None or whole.next is not None:
            after = "" if whole is None else whole.next or ""
            part = self._ask(asked.apply(owner, jobs, prune, force, after))
            if on_part is not None:
                on_part(part)
            whole = part if whole is None else _joined(whole, part)
        return whole

    def make_spread(self, windows: Windows) -> Plan:
        """Compare spread windows with those of the stored jobs. Nothing is saved.

        >>> job = client.jobs.create("stock", cron="0 * * * *")
        >>> plan = client.plans.make_spread({"stock": {"window": 60, "version": job.version}})
        >>> [(step.name, step.step) for step in plan.steps]
        [('stock', 'change')]
        """
        return self._ask(asked.make_spread(windows))

    def apply_spread(self, windows: Windows) -> AppliedPlan:
        """Set spread windows, as `jobs.propose_spread` proposes them. A job that was changed since stays as it is.

        >>> job = client.jobs.create("stock", cron="0 * * * *")
        >>> applied = client.plans.apply_spread({"stock": {"window": 60, "version": job.version}})
        >>> [(one.name, one.step, one.code) for one in applied.done]
        [('stock', 'change', None)]
        """
        return self._ask(asked.apply_spread(windows))


def _joined(whole: AppliedPlan, part: AppliedPlan) -> AppliedPlan:
    return replace(whole, steps=whole.steps + part.steps, done=whole.done + part.done, next=part.next)
