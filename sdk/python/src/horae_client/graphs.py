"""Declares a graph next to the functions that its steps run.

>>> from horae_client import Graph, Http, RetryPolicy, Step
>>> nightly = Graph("NIGHTLY_ORDERS", cron="0 2 * * *", run_deadline=7200)
>>> @nightly.step(retry=RetryPolicy(max_failures=3))
... def extract(ctx): ...
>>> @nightly.step(needs=[extract])
... def load(ctx): ...
>>> report = nightly.add(Step("report", needs=["load"], target=Http("https://example.com/report")))
>>> [(step.name, step.needs) for step in nightly.steps]
[('extract', None), ('load', ['extract']), ('report', ['load'])]

A worker serves the functions: each step without a target waits in a queue of its own.

>>> from horae_client import Worker
>>> worker = Worker(url, key)
>>> nightly.serve(worker)
>>> list(worker.kinds)
['NIGHTLY_ORDERS/extract', 'NIGHTLY_ORDERS/load']
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from horae_client.specs import Step

if TYPE_CHECKING:
    from horae_client.worker import Worker

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Graph:
    """A graph: a job whose steps need each other. `fields` are the other fields of the job, such as `cron`.

    Create it with `client.graphs.create`, or from its module with `horae apply -m MODULE`.

    >>> from horae_client import Graph, Step
    >>> graph = Graph("NIGHTLY_ORDERS")
    >>> step = graph.add(Step("extract"))
    >>> job = client.graphs.create(graph)
    >>> [step.name for step in job.steps]
    ['extract']
    """

    def __init__(self, name: str, *, run_deadline: float | None = None, **fields: Any) -> None:
        self.name = name
        self.fields = fields if run_deadline is None else {**fields, "run_deadline": run_deadline}
        self.steps: list[Step] = []
        self.handlers: dict[str, Callable[..., Any]] = {}

    def step(
        self,
        name: str | None = None,
        *,
        needs: Sequence[str | Step | Callable[..., Any]] = (),
        rule: str | None = None,
        **more: Any,
    ) -> Callable[[Decorated], Decorated]:
        """Declare the decorated function as a step; its name is the name of the function unless `name` is given.

        `needs` are functions, steps or names. `rule` is `all_success`, `all_done`, `any_failed` or `none_failed`.
        `more` are further fields of `Step`. The function is not changed.

        >>> from horae_client import Graph
        >>> graph = Graph("NIGHTLY_ORDERS")
        >>> @graph.step()
        ... def extract(ctx): ...
        >>> @graph.step("repair", needs=[extract], rule="any_failed", priority="critical")
        ... def repair_orders(ctx): ...
        >>> graph.steps[1]
        Step(name='repair', needs=['extract'], rule='any_failed', priority='critical')
        """

        def declare(function: Decorated) -> Decorated:
            step = Step(name or function.__name__, needs=[self._name(one) for one in needs] or None, rule=rule, **more)
            self.add(step)
            self.handlers[step.name] = function
            return function

        return declare

    def add(self, step: Step) -> Step:
        """Add a step that calls a target, or that a worker elsewhere serves. Returns the step.

        >>> from horae_client import Graph, Http, Step
        >>> graph = Graph("NIGHTLY_ORDERS")
        >>> graph.add(Step("report", target=Http("https://example.com/report"))).name
        'report'
        """
        if any(one.name == step.name for one in self.steps):
            raise ValueError(f"graph {self.name} has a step {step.name} already")
        self.steps.append(step)
        return step

    def serve(self, worker: "Worker", *, max_concurrency: int | None = None) -> None:
        """Let a worker serve the decorated functions. `max_concurrency` is how many of one step run at once there.

        >>> from horae_client import Graph, Worker
        >>> graph = Graph("NIGHTLY_ORDERS")
        >>> @graph.step()
        ... async def extract(ctx):
        ...     print("extracts the orders of", ctx.fire_time)
        >>> worker = Worker(url, key)
        >>> graph.serve(worker)
        >>> [(kind.name, kind.queue) for kind in worker.kinds.values()]
        [('NIGHTLY_ORDERS/extract', 'NIGHTLY_ORDERS.extract')]
        """
        for step in self.steps:
            if step.name in self.handlers:
                queue = getattr(step.target, "name", f"{self.name}.{step.name}")
                register = worker.task(f"{self.name}/{step.name}", max_concurrency=max_concurrency, queue=queue)
                register(self.handlers[step.name])

    def spec(self) -> dict[str, Any]:
        """The fields of the job, with the steps as values.

        >>> from horae_client import Graph, Step
        >>> graph = Graph("NIGHTLY_ORDERS", cron="0 2 * * *")
        >>> step = graph.add(Step("extract"))
        >>> graph.spec()
        {'cron': '0 2 * * *', 'steps': [Step(name='extract')]}
        """
        return {**self.fields, "steps": list(self.steps)}

    def _name(self, one: str | Step | Callable[..., Any]) -> str:
        if isinstance(one, str):
            return one
        if isinstance(one, Step):
            return one.name
        for name, function in self.handlers.items():
            if function is one:
                return name
        raise ValueError(f"{getattr(one, '__name__', one)} is not a step of graph {self.name}")
