"""Roles and actions: which principal may do what, as one table.

Every route names an action of this table; any other action is denied. An action has one verb, and a role is the set of
verbs it may use. `audited` actions write exactly one audit row when they change something. `platform` actions are for
principals of the system tenant only. `bound` actions may be done by a key that is bound to some jobs, to these jobs.
`docs/api/roles.md` is this table as a page.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple


class Role(StrEnum):
    """The role of a principal in its tenant."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"
    WORKER = "worker"
    AUDITOR = "auditor"


ROLES: Final = frozenset(Role)


def known_roles(names: Iterable[str]) -> frozenset[Role]:
    """Return the roles of a binding. A name that only a newer release knows grants nothing here."""
    return frozenset(Role(name) for name in names if name in ROLES)


class Permission(StrEnum):
    """The verb of an action."""

    READ = "read"
    EXECUTE = "execute"  # starts or stops runs: trigger, retry, replay, backfill, pause, resume, cancel
    INSPECT = "inspect"  # reads what targets answered, which may hold secrets
    WRITE = "write"  # changes a definition
    MANAGE = "manage"  # changes permissions
    WORK = "work"  # the worker protocol
    AUDIT = "audit"  # reads the audit log
    SELF = "self"  # concerns the caller itself; scopes do not narrow it


PLATFORM: Final = "system"
"""The name of the system tenant."""
OWN: Final = frozenset({Permission.SELF})
"""What every role may do."""
GRANTS: Final[dict[Role, frozenset[Permission]]] = {
    Role.VIEWER: frozenset({Permission.READ}) | OWN,
    Role.OPERATOR: frozenset({Permission.READ, Permission.INSPECT, Permission.EXECUTE}) | OWN,
    Role.EDITOR: frozenset({Permission.READ, Permission.INSPECT, Permission.EXECUTE, Permission.WRITE}) | OWN,
    Role.ADMIN: frozenset(
        {
            Permission.READ,
            Permission.INSPECT,
            Permission.EXECUTE,
            Permission.WRITE,
            Permission.MANAGE,
            Permission.AUDIT,
        }
    )
    | OWN,
    Role.WORKER: frozenset({Permission.WORK}) | OWN,
    Role.AUDITOR: frozenset({Permission.READ, Permission.AUDIT}) | OWN,
}
"""The verbs of each role."""


class Action(NamedTuple):
    """One line of the table."""

    verb: Permission
    audited: bool = False
    platform: bool = False
    bound: bool = False


ACTIONS: Final[dict[str, Action]] = {
    "jobs.create": Action(Permission.WRITE, audited=True, bound=True),
    "jobs.list": Action(Permission.READ, bound=True),
    "jobs.read": Action(Permission.READ, bound=True),
    "jobs.pause": Action(Permission.EXECUTE, audited=True, bound=True),
    "jobs.resume": Action(Permission.EXECUTE, audited=True, bound=True),
    "jobs.remove": Action(Permission.WRITE, audited=True, bound=True),
    "tasks.put": Action(Permission.EXECUTE, bound=True),  # the ledger of its key and an event record it
    "tasks.cancel": Action(Permission.EXECUTE, bound=True),
    "tasks.read": Action(Permission.READ, bound=True),
    "jobs.update": Action(Permission.WRITE, audited=True, bound=True),
    "jobs.label": Action(Permission.WRITE, audited=True, bound=True),
    "jobs.people": Action(Permission.WRITE, audited=True, bound=True),
    "jobs.versions": Action(Permission.READ, bound=True),
    "jobs.occurrence": Action(Permission.WRITE, audited=True, bound=True),
    "jobs.preview": Action(Permission.READ, bound=True),
    "jobs.forecast": Action(Permission.READ),
    "jobs.problems": Action(Permission.READ),
    "jobs.test": Action(Permission.EXECUTE, bound=True),
    "jobs.bulk": Action(Permission.EXECUTE),  # each job that it changes has its own audit row
    "plans.make": Action(Permission.READ, bound=True),
    "plans.apply": Action(Permission.WRITE, bound=True),  # each job that it changes has its own audit row
    "jobs.trigger": Action(Permission.EXECUTE, audited=True, bound=True),
    "jobs.backfill": Action(Permission.EXECUTE, audited=True),
    "backfills.list": Action(Permission.READ),
    "backfills.read": Action(Permission.READ),
    "backfills.plan": Action(Permission.READ),
    "backfills.pause": Action(Permission.EXECUTE, audited=True),
    "backfills.resume": Action(Permission.EXECUTE, audited=True),
    "backfills.cancel": Action(Permission.EXECUTE, audited=True),
    "backfill_groups.start": Action(Permission.EXECUTE),  # each part has its own audit rows
    "backfill_groups.read": Action(Permission.READ),
    "backfill_groups.pause": Action(Permission.EXECUTE),
    "backfill_groups.resume": Action(Permission.EXECUTE),
    "backfill_groups.cancel": Action(Permission.EXECUTE),
    "instances.list": Action(Permission.READ, bound=True),
    "instances.read": Action(Permission.READ, bound=True),
    "payloads.read": Action(Permission.INSPECT, bound=True),  # a part of what `instances.read` returns
    "instances.cancel": Action(Permission.EXECUTE, audited=True, bound=True),
    "instances.retry": Action(Permission.EXECUTE, audited=True, bound=True),
    "graph_children.list": Action(Permission.READ, bound=True),
    "graph_runs.list": Action(Permission.READ, bound=True),
    "graph_runs.read": Action(Permission.READ, bound=True),
    "graph_steps.retry": Action(Permission.EXECUTE, audited=True, bound=True),
    "graph_steps.skip": Action(Permission.EXECUTE, audited=True, bound=True),
    "graph_steps.succeed": Action(Permission.EXECUTE, audited=True, bound=True),
    "holds.list": Action(Permission.READ),
    "dead_letters.list": Action(Permission.READ),
    "dead_letters.replay": Action(Permission.EXECUTE, audited=True, bound=True),
    "dead_letters.replay_many": Action(Permission.EXECUTE),  # an audit row for each page of dead letters
    "dead_letters.discard": Action(Permission.EXECUTE, audited=True, bound=True),
    "dead_letters.discard_many": Action(Permission.EXECUTE),  # an audit row for each page of dead letters
    "dead_letters.tag": Action(Permission.EXECUTE),  # an audit row for each page of dead letters
    "failure_causes.list": Action(Permission.READ),
    "failure_causes.read": Action(Permission.READ),
    "paced_replays.start": Action(Permission.EXECUTE, audited=True),
    "paced_replays.list": Action(Permission.READ),
    "paced_replays.read": Action(Permission.READ),
    "paced_replays.stop": Action(Permission.EXECUTE, audited=True),
    "workers.poll": Action(Permission.WORK),
    "workers.heartbeat": Action(Permission.WORK),
    "workers.finish": Action(Permission.WORK),
    "workers.fail": Action(Permission.WORK),
    "workers.log": Action(Permission.WORK),
    "workers.list": Action(Permission.READ),
    "workers.drain": Action(Permission.EXECUTE, audited=True),
    "workers.resume": Action(Permission.EXECUTE, audited=True),
    "queues.list": Action(Permission.READ),
    "calendars.list": Action(Permission.READ, bound=True),
    "calendars.read": Action(Permission.READ, bound=True),
    "calendars.preview": Action(Permission.READ, bound=True),
    "calendars.put": Action(Permission.WRITE, audited=True),
    "sources.list": Action(Permission.READ),
    "sources.read": Action(Permission.READ),
    "sources.put": Action(Permission.WRITE, audited=True),
    "sources.remove": Action(Permission.WRITE, audited=True),
    "sources.run": Action(Permission.EXECUTE, audited=True),
    "sources.pause": Action(Permission.EXECUTE, audited=True),
    "sources.resume": Action(Permission.EXECUTE, audited=True),
    "sources.push": Action(Permission.EXECUTE),  # its repairs have their own audit rows
    "subjects.list": Action(Permission.READ, bound=True),
    "subjects.coverage": Action(Permission.READ, bound=True),
    "subjects.add": Action(Permission.EXECUTE, bound=True),  # subjects come and go as tasks do
    "subjects.remove": Action(Permission.EXECUTE, bound=True),
    "subjects.import": Action(Permission.EXECUTE, bound=True),
    "health.read": Action(Permission.READ),
    "nodes.list": Action(Permission.READ, platform=True),
    "shards.list": Action(Permission.READ, platform=True),
    "shards.moves": Action(Permission.READ, platform=True),
    "shards.move": Action(Permission.MANAGE, platform=True),  # each shard that it moves has its own audit row
    "shards.abort": Action(Permission.MANAGE, audited=True, platform=True),
    "incidents.list": Action(Permission.READ, platform=True),
    "incidents.read": Action(Permission.READ, platform=True),
    "incidents.start": Action(Permission.MANAGE, audited=True, platform=True),
    "incidents.stop": Action(Permission.MANAGE, audited=True, platform=True),
    "measures.list": Action(Permission.READ, platform=True),
    "measures.override": Action(Permission.MANAGE, audited=True, platform=True),
    "measures.lift": Action(Permission.MANAGE, audited=True, platform=True),
    "drills.list": Action(Permission.READ, platform=True),
    "retention.read": Action(Permission.READ),
    "growth.read": Action(Permission.READ, platform=True),
    "lateness.read": Action(Permission.READ, platform=True),
    "keys.create": Action(Permission.MANAGE, audited=True),
    "keys.list": Action(Permission.MANAGE),
    "keys.revoke": Action(Permission.MANAGE, audited=True),
    "roles.read": Action(Permission.READ, bound=True),
    "me.read": Action(Permission.SELF, bound=True),
    "session.choose": Action(Permission.SELF),
    "session.end": Action(Permission.SELF),
    "sessions.list": Action(Permission.MANAGE),
    "sessions.revoke": Action(Permission.MANAGE, audited=True),
    "bindings.list": Action(Permission.MANAGE),
    "bindings.put": Action(Permission.MANAGE, audited=True),
    "audit.list": Action(Permission.AUDIT),
    "certificates.list": Action(Permission.AUDIT),
    "certificates.read": Action(Permission.AUDIT),
    "audit.chain": Action(Permission.AUDIT, platform=True),
    "secrets.put": Action(Permission.MANAGE, audited=True),
    "secrets.list": Action(Permission.MANAGE),
    "secrets.remove": Action(Permission.MANAGE, audited=True),
    "subscriptions.put": Action(Permission.WRITE, audited=True),
    "subscriptions.list": Action(Permission.READ),
    "subscriptions.read": Action(Permission.READ),
    "subscriptions.remove": Action(Permission.WRITE, audited=True),
    "subscriptions.replay": Action(Permission.EXECUTE, audited=True),
    "subscriptions.pause": Action(Permission.EXECUTE, audited=True),
    "subscriptions.resume": Action(Permission.EXECUTE, audited=True),
    "intakes.put": Action(Permission.WRITE, audited=True),
    "intakes.list": Action(Permission.READ),
    "intakes.read": Action(Permission.READ),
    "intakes.remove": Action(Permission.WRITE, audited=True),
    "intakes.pause": Action(Permission.EXECUTE, audited=True),
    "intakes.resume": Action(Permission.EXECUTE, audited=True),
    "alert_channels.put": Action(Permission.WRITE, audited=True),
    "alert_channels.list": Action(Permission.READ),
    "alert_channels.read": Action(Permission.READ),
    "alert_channels.remove": Action(Permission.WRITE, audited=True),
    "alert_channels.test": Action(Permission.EXECUTE),  # sends one message and changes nothing
    "alert_rules.put": Action(Permission.WRITE, audited=True),
    "alert_rules.list": Action(Permission.READ),
    "alert_rules.read": Action(Permission.READ),
    "alert_rules.remove": Action(Permission.WRITE, audited=True),
    "silences.put": Action(Permission.EXECUTE, audited=True),
    "silences.list": Action(Permission.READ),
    "silences.read": Action(Permission.READ),
    "silences.remove": Action(Permission.EXECUTE, audited=True),
    "alerts.list": Action(Permission.READ),
    "alerts.read": Action(Permission.READ),
    "alerts.acknowledge": Action(Permission.EXECUTE, audited=True),
    "parked.list": Action(Permission.READ),
    "parked.replay": Action(Permission.EXECUTE, audited=True),
    "parked.drop": Action(Permission.EXECUTE, audited=True),
    "tenant.read": Action(Permission.READ),
    "tenant.pause": Action(Permission.EXECUTE, audited=True),
    "tenant.resume": Action(Permission.EXECUTE, audited=True),
    "tenants.pause": Action(Permission.MANAGE, audited=True, platform=True),
    "tenants.resume": Action(Permission.MANAGE, audited=True, platform=True),
    "tenants.remove": Action(Permission.MANAGE, audited=True, platform=True),
    "tenants.create": Action(Permission.MANAGE, audited=True, platform=True),
    "tenants.list": Action(Permission.READ, platform=True),
    "tenants.read": Action(Permission.READ, platform=True),
    "tenants.allow": Action(Permission.MANAGE, audited=True, platform=True),
    "tenants.widen": Action(Permission.MANAGE, audited=True, platform=True),
    "tenants.keys.create": Action(Permission.MANAGE, audited=True, platform=True),
    "metrics.read": Action(Permission.READ, platform=True),
}
"""Every action, by name."""

LOGIN: Final = frozenset({"/login", "/login/callback", "/login/key", "/login/options"})
"""The login routes: they check credentials themselves."""
CONSOLE: Final = frozenset({"/", "/console", "/console/{path:path}"})
"""The console's files, the same for everyone: the console reads its data from the API."""
ANONYMOUS: Final = LOGIN | CONSOLE | {"/healthz", "/readyz", "/openapi.json", "/docs", "/docs/style.css"}
"""Routes without a credential: login, console, two probes, and the reference. None returns data of a tenant."""


def roles_for(action: str) -> list[Role]:
    """Return the roles that may do an action."""
    return [role for role, verbs in GRANTS.items() if ACTIONS[action].verb in verbs]


def may(action: str, roles: Iterable[Role], scopes: Iterable[str], *, platform: bool) -> bool:
    """Whether roles, narrowed by scopes, cover an action; an unknown action is denied."""
    meant = ACTIONS.get(action)
    if meant is None or (meant.platform and not platform):
        return False
    narrowed = [] if meant.verb is Permission.SELF else list(scopes)
    return any(meant.verb in GRANTS[role] for role in roles) and (not narrowed or any(_in(action, s) for s in narrowed))


def why_not(action: str, roles: Iterable[Role], *, platform: bool) -> str:
    """Return why roles, or the scopes that narrow them, do not cover an action, and what would."""
    meant = ACTIONS[action]
    if meant.platform and not platform:
        return f"{action} needs a key of the platform's tenant `{PLATFORM}`: no role of another tenant covers it"
    fitting = [role.value for role in Role if meant.verb in GRANTS[role]]
    if any(role.value in fitting for role in roles):
        return f"{action} is not among the scopes of this credential"
    return f"{action} needs one of the roles {', '.join(fitting)}"


def known_scope(scope: str) -> bool:
    """Whether a scope matches any action: it is the name of an action, or a group such as `jobs.*`."""
    return any(_in(action, scope) for action in ACTIONS)


def _in(action: str, scope: str) -> bool:
    return action == scope or (scope.endswith(".*") and action.startswith(scope[:-1]))
