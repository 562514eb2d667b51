"""Jobs: what fires, when, and what it calls."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client import keys
from horae_client.asked import explanations as explained
from horae_client.asked import jobs as asked
from horae_client.asked.jobs import backfill_body, stamp
from horae_client.models import (
    Backfill,
    BulkItem,
    Counts,
    Explanation,
    Forecast,
    ForecastEffect,
    Instance,
    Job,
    JobDifference,
    JobTestResult,
    ProblemJob,
    Schedule,
    SpreadProposal,
    Triggered,
    Version,
    WorstSeconds,
)
from horae_client.specs import After, Policies, RetryPolicy, Step, Target, Trigger
from horae_client.sync.verbs import Items, Verbs
from horae_client.wire import aware, said


class Jobs(Verbs):
    """Definitions of jobs, and changes to them. A job is identified by its name or its id."""

    def create(
        self,
        name: str,
        *,
        cron: str | None = None,
        timezone: str | None = None,
        trigger: Trigger | None = None,
        target: Target | None = None,
        priority: str | None = None,
        payload: Any = None,
        labels: Mapping[str, str] | None = None,
        retry: RetryPolicy | None = None,
        policies: Policies | None = None,
        after_success: str | None = None,
        expires_after: float | None = None,
        description: str | None = None,
        owner: str | None = None,
        runbook: str | None = None,
        contacts: Sequence[str] | None = None,
        late_after: int | None = None,
        fail_after: int | None = None,
        steps: Sequence[Step | Mapping[str, Any]] | None = None,
        run_deadline: float | None = None,
        after: After | None = None,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> Job:
        """Create a job; the answer shows how it was understood, and when it fires.

        Without a target, workers claim it from the queue of its name. Without a trigger, it fires by hand.
        `expires_after` is how many seconds a due run may wait before it is SKIPPED or DEAD with `EXPIRED`. `contacts`
        are alert channels. The job is late `late_after` seconds after its fire time without a first attempt, and
        failing after `fail_after` failed runs in a row. A job with `steps` is a graph, and `run_deadline` is how many
        seconds a run of it may take. `after` starts it when another job has ended: an instance for each end, or for a
        type of tasks a task of the same key. `more` is sent unchanged: any other field of the API.

        >>> job = client.jobs.create("REPORT", cron="0 2 * * *", timezone="Asia/Shanghai")
        >>> job.status, job.trigger["zone"], len(job.schedule.fires)
        ('ACTIVE', 'Asia/Shanghai', 5)
        >>> from horae_client import After
        >>> mail = client.jobs.create("MAIL", after=After("REPORT", on="ended"))
        >>> mail.after
        {'job': 'REPORT', 'on': 'ended'}
        """
        spec = said(
            cron=cron,
            timezone=timezone,
            trigger=trigger,
            target=target,
            priority=priority,
            payload=payload,
            labels=labels,
            retry=retry,
            policies=policies,
            after_success=after_success,
            expires_after=expires_after,
            description=description,
            owner=owner,
            runbook=runbook,
            contacts=contacts,
            late_after=late_after,
            fail_after=fail_after,
            steps=steps,
            run_deadline=run_deadline,
            after=after,
            **more,
        )
        return self._ask(asked.create(name, spec, keys.made(idempotency_key)))

    def update(self, job: str, *, version: int, idempotency_key: str | None = None, **spec: Any) -> Job:
        """Write the next version of a job with all its fields, if `version` is still its version; otherwise `Conflict`.

        >>> job = client.jobs.get("coupon_job")
        >>> job = client.jobs.update("coupon_job", version=job.version, cron="0 */10 * * * ?")
        >>> job.version
        2
        """
        return self._ask(asked.update(job, version, said(**spec), keys.made(idempotency_key)))

    def get(self, job: str) -> Job:
        """Get one job and its next fires.

        >>> job = client.jobs.get("coupon_job")
        >>> job.name, len(job.schedule.fires)
        ('coupon_job', 5)
        """
        return self._ask(asked.get(job))

    def explain(self, job: str, *, at: datetime | str | None = None, lang: str | None = None) -> Explanation:
        """Explain why a job does or does not run now, or what became of its fire `at` a time, in sentences.

        A text such as "02:00" is a time of day in the zone of the job, the last one that has passed. `lang` is "en" or
        "zh".

        >>> why = client.jobs.explain("coupon_job", at="02:00")
        >>> why.kind, why.language
        ('fire', 'en')
        """
        return self._ask(explained.job(job, stamp(at) if isinstance(at, datetime) else at, lang))

    def list(
        self,
        *,
        status: str | None = None,
        labels: Sequence[str] = (),
        prefix: str = "",
        kind: str | None = None,
        owner: str | None = None,
        contains: str = "",
        calendar: str | None = None,
        secret: str | None = None,
        order: str | None = None,
        recent_runs: int = 0,
        limit: int | None = None,
    ) -> Items[Job]:
        """List jobs that are not removed, over all pages. A label is `key` or `key=value`.

        `kind` is the kind of the trigger: `cron`, `keyed`, `rolling` … `calendar` finds the active and paused jobs that
        use that calendar, `secret` the jobs that name that secret. `order` is `name`, `changed_at` (last
        changed first) or `next_fire_at` (soonest first).

        >>> [job.name for job in client.jobs.list(prefix="coupon")]
        ['coupon_job']
        """
        names = {"prefix": prefix or None, "contains": contains or None}
        more = {"recent_runs": recent_runs or None, "calendar": calendar, "secret": secret, "order": order}
        query = said(status=status, label=list_(labels), kind=kind, owner=owner, **names, **more)
        return self._pages(asked.listing(query), limit)

    def problems(self, *, owner: str | None = None, limit: int | None = None) -> Items[ProblemJob]:
        """List the jobs that have open dead letters or overdue instances, the worst first.

        >>> [(one.name, one.dead, one.overdue) for one in client.jobs.problems()]
        []
        """
        return self._pages(asked.problems(owner), limit)

    def pause(self, job: str, *, idempotency_key: str | None = None) -> Job:
        """Stop fires and claims; running instances may finish.

        >>> job = client.jobs.pause("coupon_job")
        >>> job.status
        'PAUSED'
        """
        return self._ask(asked.verb(job, "pause", keys.made(idempotency_key)))

    def resume(self, job: str, *, idempotency_key: str | None = None) -> Job:
        """Continue from now; fires that were missed meanwhile are recorded as skipped.

        >>> job = client.jobs.pause("coupon_job")
        >>> job = client.jobs.resume("coupon_job")
        >>> job.status
        'ACTIVE'
        """
        return self._ask(asked.verb(job, "resume", keys.made(idempotency_key)))

    def remove(self, job: str) -> Job:
        """Remove a job: it fires no more; waiting instances are cancelled, the history stays.

        >>> job = client.jobs.remove("coupon_job")
        >>> job.status
        'REMOVED'
        """
        return self._ask(asked.remove(job))

    def label(self, job: str, labels: Mapping[str, str | None], *, idempotency_key: str | None = None) -> Job:
        """Set labels; a label with None is removed, all others stay.

        >>> job = client.jobs.label("coupon_job", {"team": "coupons"})
        >>> job.labels
        {'team': 'coupons'}
        """
        return self._ask(asked.label(job, labels, keys.made(idempotency_key)))

    def people(self, job: str, *, idempotency_key: str | None = None, **fields: Any) -> Job:
        """Set `description`, `owner`, `runbook`, `contacts`, `late_after` or `fail_after`.

        A field with None is cleared, all others stay.

        >>> job = client.jobs.people("coupon_job", owner="coupons", contacts=["coupons-oncall"], fail_after=3)
        >>> job.owner, job.contacts, job.fail_after
        ('coupons', ['coupons-oncall'], 3)
        >>> [job.name for job in client.jobs.list(owner="coupons")]
        ['coupon_job']
        """
        return self._ask(asked.people(job, fields, keys.made(idempotency_key)))

    def trigger(self, job: str, *, payload: Any = None, idempotency_key: str | None = None) -> Triggered:
        """Fire a job now, once per idempotency key.

        >>> one = client.jobs.trigger("coupon_job", payload={"campaign": 42}, idempotency_key="campaign-42")
        >>> two = client.jobs.trigger("coupon_job", payload={"campaign": 42}, idempotency_key="campaign-42")
        >>> one.instance_id == two.instance_id
        True
        """
        return self._ask(asked.trigger(job, payload, keys.made(idempotency_key)))

    def backfill(
        self,
        job: str,
        *,
        since: datetime,
        until: datetime,
        cap: int | None = None,
        rerun: bool | None = None,
        mode: str | None = None,
        newest_first: bool | None = None,
        rate: float | None = None,
        idempotency_key: str | None = None,
    ) -> Backfill:
        """Run a job's past fires of a range in the backfill lane, which has the smallest share; `until` is excluded.

        `mode` is `unsuccessful`, `missing`, `failed` or `all`, which is the same as `rerun`. `rate` is the instances
        that are created in a second at most. `client.backfills.plan` is a dry run.

        >>> from datetime import UTC, datetime, timedelta
        >>> now = datetime.now(UTC)
        >>> hour = timedelta(hours=1)
        >>> begun = client.jobs.backfill("coupon_job", since=now - 2 * hour, until=now - hour)
        >>> begun.planned
        12
        """
        body = backfill_body(since, until, cap, rerun, mode, newest_first, rate)
        return self._ask(asked.backfill(job, body, keys.made(idempotency_key)))

    def history(
        self,
        job: str,
        *,
        states: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        key: str | None = None,
        limit: int | None = None,
    ) -> Items[Instance]:
        """A job's instances, live and ended, newest fire first.

        >>> one = client.jobs.trigger("coupon_job")
        >>> [run.state for run in client.jobs.history("coupon_job", states=["INIT"])]
        ['INIT']
        """
        return self._pages(asked.history(job, states, since, until, key), limit)

    def counts(self, job: str, *, since: datetime | None = None, until: datetime | None = None) -> Counts:
        """Count a job's live instances by state, and the results of its fires in a range of time.

        >>> one = client.jobs.trigger("coupon_job")
        >>> counts = client.jobs.counts("coupon_job")
        >>> counts.live["INIT"]
        1
        """
        return self._ask(asked.counts(job, since, until))

    def preview(self, job: str, *, many: int = 5) -> Schedule:
        """Get a description of a job's schedule, and its next fires.

        >>> coming = client.jobs.preview("coupon_job", many=3)
        >>> len(coming.fires)
        3
        """
        return self._ask(asked.preview(job, many))

    def expected_fires(self, job: str, *, since: datetime, until: datetime) -> Sequence[datetime]:
        """Get the fires that a job's schedule has in a range of time, past or future, paused or not.

        >>> from datetime import UTC, datetime
        >>> nine = datetime(2035, 1, 1, 9, tzinfo=UTC)
        >>> fires = client.jobs.expected_fires("coupon_job", since=nine, until=nine.replace(hour=10))
        >>> len(fires), fires[1].minute
        (12, 5)
        """
        page = self._ask(asked.expected_fires(job, since, until))
        found = [*page.fires]
        while page.next is not None:
            page = self._ask(asked.expected_fires(job, page.next, until))
            found = [*found, *page.fires]
        return found

    def skip(self, job: str, at: datetime, *, idempotency_key: str | None = None) -> Job:
        """Skip one coming fire; it leaves a SKIPPED row.

        >>> coming = client.jobs.preview("coupon_job")
        >>> job = client.jobs.skip("coupon_job", coming.fires[1].fire_time)
        >>> coming = client.jobs.preview("coupon_job")
        >>> coming.fires[1].skipped
        'REQUESTED'
        """
        return self._ask(asked.verb(job, "skip", keys.made(idempotency_key), {"at": aware(at)}))

    def move(self, job: str, at: datetime, to: datetime, *, idempotency_key: str | None = None) -> Job:
        """Move one coming fire to another time between its neighbours.

        >>> from datetime import timedelta
        >>> coming = client.jobs.preview("coupon_job")
        >>> at = coming.fires[1].fire_time
        >>> job = client.jobs.move("coupon_job", at, at + timedelta(minutes=2))
        >>> job.version
        2
        """
        body = {"at": aware(at), "to": aware(to)}
        return self._ask(asked.verb(job, "move", keys.made(idempotency_key), body))

    def restore(self, job: str, at: datetime, *, idempotency_key: str | None = None) -> Job:
        """Restore one coming fire that was skipped or moved to what the schedule says.

        >>> coming = client.jobs.preview("coupon_job")
        >>> job = client.jobs.skip("coupon_job", coming.fires[1].fire_time)
        >>> job = client.jobs.restore("coupon_job", coming.fires[1].fire_time)
        >>> coming = client.jobs.preview("coupon_job")
        >>> coming.fires[1].skipped is None
        True
        """
        return self._ask(asked.verb(job, "restore", keys.made(idempotency_key), {"at": aware(at)}))

    def versions(self, job: str, *, limit: int | None = None) -> Items[Version]:
        """List a job's versions, newest first.

        >>> [one.version for one in client.jobs.versions("coupon_job")]
        [1]
        """
        return self._pages(asked.versions(job), limit)

    def version(self, job: str, number: int) -> Version:
        """Get one version of a job.

        >>> first = client.jobs.version("coupon_job", 1)
        >>> first.definition["trigger"]["expression"]
        '0 */5 * * * ?'
        """
        return self._ask(asked.version(job, number))

    def compare(self, job: str, before: int, after: int) -> Sequence[JobDifference]:
        """Compare two versions of a job, field by field.

        >>> job = client.jobs.label("coupon_job", {"team": "coupons"})
        >>> found = client.jobs.compare("coupon_job", 1, 2)
        >>> [one.path for one in found]
        ['labels']
        """
        return self._ask(asked.compare(job, before, after))

    def preview_new(self, name: str, **spec: Any) -> Job:
        """Preview a new job with the fields of `create`: its whole definition and its coming fires. Nothing is saved.

        >>> job = client.jobs.preview_new("REPORT", cron="0 2 * * *", timezone="Asia/Shanghai")
        >>> job.trigger["zone"], len(job.schedule.fires)
        ('Asia/Shanghai', 5)
        """
        return self._ask(asked.preview_new(name, said(**spec)))

    def test(self, job: str, *, payload: Any = None) -> JobTestResult:
        """Send one test request to the target of a job; `payload` replaces the job's. No instance is created.

        >>> from horae_client import Http
        >>> job = client.jobs.create("CALL", target=Http("https://127.0.0.1:9/refused"))
        >>> result = client.jobs.test("CALL", payload={"campaign": 42})
        >>> result.outcome, result.status
        ('retryable', None)
        """
        return self._ask(asked.send_test(job, payload))

    def bulk(
        self,
        verb: str,
        *,
        status: str | None = None,
        labels: Mapping[str, str] | None = None,
        prefix: str | None = None,
        owner: str | None = None,
        contains: str | None = None,
        names: Sequence[str] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Sequence[BulkItem]:
        """Pause, resume, trigger or retry all jobs that match, with a result for each; `verb` is one of these words.

        With `dry_run` nothing changes: the results say what the status of each job allows now.

        >>> done = client.jobs.bulk("pause", prefix="coupon")
        >>> [(one.name, one.ok) for one in done]
        [('coupon_job', True)]
        """
        key, after = keys.made(idempotency_key), ""
        found: tuple[BulkItem, ...] = ()
        while True:
            wanted = said(status=status, labels=labels, prefix=prefix, owner=owner, contains=contains, names=names)
            body = said(verb=verb, **wanted, dry_run=dry_run, after=after or None)
            page = self._ask(asked.bulk(body, key))
            found = (*found, *page.items)
            if page.next is None:
                return found
            after = page.next

    def forecast(self, *, hours: float = 24) -> Forecast:
        """Count the coming fires by minute, and find the busiest seconds.

        >>> coming = client.jobs.forecast(hours=1)
        >>> coming.total
        12
        """
        return self._ask(asked.forecast(hours))

    def worst_seconds(
        self, *, hours: float = 24, minute: datetime | None = None, seconds: int = 10, jobs: int = 50
    ) -> WorstSeconds:
        """List the busiest seconds of the forecast, the worst first, with the jobs that fire in each of them.

        `minute` restricts the list to the seconds of the minute that begins then. `seconds` and `jobs` are the most
        seconds, and the most jobs of a second.

        >>> for name in ("price", "stock"):
        ...     job = client.jobs.create(name, cron="0 * * * *")
        >>> worst = client.jobs.worst_seconds(hours=2)
        >>> sorted(job.name for job in worst.seconds[0].jobs if job.name != "coupon_job")
        ['price', 'stock']
        """
        return self._ask(asked.worst_seconds(hours, minute, seconds, jobs))

    def propose_spread(self, jobs: Sequence[str], *, hours: float = 24, within: int = 60) -> SpreadProposal:
        """Propose windows that spread the fires of jobs, none longer than `within` seconds. Nothing is saved.

        `plans.apply_spread` sets the windows of the proposal's `plan`.

        >>> for name in ("stock", "price", "sales"):
        ...     job = client.jobs.create(name, cron="0 * * * *")
        >>> proposal = client.jobs.propose_spread(["stock", "price", "sales"], hours=2)
        >>> proposal.before.fires > proposal.after.fires
        True
        """
        return self._ask(asked.propose_spread(jobs, hours, within))

    def forecast_new(self, name: str, **spec: Any) -> ForecastEffect:
        """Forecast with a new or changed job, with the fields of `create`. Nothing is saved.

        >>> effect = client.jobs.forecast_new("REPORT", cron="0 * * * *")
        >>> effect.fires_after - effect.fires_before
        24
        """
        return self._ask(asked.forecast_new(name, said(**spec)))


def list_(some: Sequence[str]) -> Any:
    """A list, or None if it is empty; the name `list` is a method here."""
    return [*some] or None
