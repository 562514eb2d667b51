"""Graphs: jobs whose steps need each other, and their runs."""

from horae_client import keys
from horae_client.asked import graphs as asked
from horae_client.asked import jobs as asked_of_jobs
from horae_client.graphs import Graph
from horae_client.models import GraphChild, GraphRun, Job
from horae_client.sync.verbs import Items, Verbs


class Graphs(Verbs):
    """Graphs and their runs. A graph is a job too: pause, trigger and remove it as one."""

    def create(self, graph: Graph, *, idempotency_key: str | None = None) -> Job:
        """Create a graph with all its steps.

        >>> from horae_client import Graph, Step
        >>> graph = Graph("NIGHTLY_ORDERS", cron="0 2 * * *", run_deadline=7200)
        >>> load = graph.add(Step("load", needs=["extract"]))
        >>> extract = graph.add(Step("extract"))
        >>> job = client.graphs.create(graph)
        >>> [(step.name, step.target["name"]) for step in job.steps]
        [('extract', 'NIGHTLY_ORDERS.extract'), ('load', 'NIGHTLY_ORDERS.load')]
        """
        return self._ask(asked_of_jobs.create(graph.name, graph.spec(), keys.made(idempotency_key)))

    def update(self, graph: Graph, *, version: int, idempotency_key: str | None = None) -> Job:
        """Write the next version of a graph with all its steps, if `version` is still its version; else `Conflict`.

        Runs that have begun go on with the version that they began with.

        >>> from horae_client import Graph, Step
        >>> graph = Graph("NIGHTLY_ORDERS")
        >>> extract = graph.add(Step("extract"))
        >>> job = client.graphs.create(graph)
        >>> load = graph.add(Step("load", needs=["extract"]))
        >>> job = client.graphs.update(graph, version=job.version)
        >>> job.version, [step.name for step in job.steps]
        (2, ['extract', 'load'])
        """
        request = asked_of_jobs.update(graph.name, version, graph.spec(), keys.made(idempotency_key))
        return self._ask(request)

    def runs(self, job: str, *, limit: int | None = None) -> Items[GraphRun]:
        """List the runs of a graph, newest first. `limit` is the size of a page.

        >>> job = client.jobs.create("NIGHTLY_ORDERS", steps=[{"name": "extract"}])
        >>> [run.state for run in client.graphs.runs("NIGHTLY_ORDERS")]
        []
        """
        return self._pages(asked.runs(job), limit)

    def run(self, instance: str) -> GraphRun:
        """Get one run with its steps. It raises `NotFound` until a node has started the run.

        >>> from horae_client.errors import NotFound
        >>> made = client.jobs.trigger("coupon_job")
        >>> try:
        ...     client.graphs.run(made.instance_id)
        ... except NotFound:
        ...     print("no run of a graph")
        no run of a graph
        """
        return self._ask(asked.run(instance))

    def children(
        self, instance: str, step: str, *, state: str | None = None, limit: int | None = None
    ) -> Items[GraphChild]:
        """List the elements of a mapped step in a run, in the order of its list; with a state, only those in it.

        >>> from horae_client.errors import NotFound
        >>> made = client.jobs.trigger("coupon_job")
        >>> try:
        ...     [child.reason for child in client.graphs.children(made.instance_id, "notify", state="DEAD")]
        ... except NotFound:
        ...     print("no run of a graph")
        no run of a graph
        """
        return self._pages(asked.children(instance, step, state), limit)

    def retry(self, instance: str, step: str, *, idempotency_key: str | None = None) -> GraphRun:
        """Run a step of an open run again, and all steps behind it.

        >>> from horae_client.errors import NotFound
        >>> made = client.jobs.trigger("coupon_job")
        >>> try:
        ...     client.graphs.retry(made.instance_id, "load")
        ... except NotFound:
        ...     print("no run of a graph")
        no run of a graph
        """
        return self._ask(asked.step_verb(instance, step, "retry", keys.made(idempotency_key)))

    def skip(self, instance: str, step: str, *, idempotency_key: str | None = None) -> GraphRun:
        """Skip a step of an open run: the run goes on without it.

        >>> from horae_client.errors import NotFound
        >>> made = client.jobs.trigger("coupon_job")
        >>> try:
        ...     client.graphs.skip(made.instance_id, "load")
        ... except NotFound:
        ...     print("no run of a graph")
        no run of a graph
        """
        return self._ask(asked.step_verb(instance, step, "skip", keys.made(idempotency_key)))

    def succeed(self, instance: str, step: str, *, idempotency_key: str | None = None) -> GraphRun:
        """Mark a step of an open run as succeeded, because its work was done in another way.

        >>> from horae_client.errors import NotFound
        >>> made = client.jobs.trigger("coupon_job")
        >>> try:
        ...     client.graphs.succeed(made.instance_id, "load")
        ... except NotFound:
        ...     print("no run of a graph")
        no run of a graph
        """
        return self._ask(asked.step_verb(instance, step, "succeed", keys.made(idempotency_key)))
