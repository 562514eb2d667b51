"""Who may do what: the specification, as one table.

Every route names an action of this table; an action that is not here cannot be asked for. An action has one verb, and
a role is the set of verbs it may use. `audited` actions leave exactly one audit row when they change something.
`platform` actions are for principals of the system tenant only. `docs/api/roles.md` is this table as a page.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple


class Role(StrEnum):
    """What a principal is to its tenant."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"
    WORKER = "worker"
    AUDITOR = "auditor"


ROLES: Final = frozenset(Role)


def known_roles(names: Iterable[str]) -> frozenset[Role]:
    """The roles of a binding. A name that only a newer release knows grants nothing here."""
    return frozenset(Role(name) for name in names if name in ROLES)


class Verb(StrEnum):
    """Which kind of doing an action is."""

    READ = "read"
    EXECUTE = "execute"  # makes something run, or stops it: trigger, retry, replay, backfill, pause, resume, cancel
    WRITE = "write"  # changes a definition
    MANAGE = "manage"  # changes who may do what
    WORK = "work"  # the worker protocol
    AUDIT = "audit"  # reads who did what
    SELF = "self"  # is about who asks; scopes do not narrow it


PLATFORM: Final = "system"
OWN: Final = frozenset({Verb.SELF})
GRANTS: Final[dict[Role, frozenset[Verb]]] = {
    Role.VIEWER: frozenset({Verb.READ}) | OWN,
    Role.OPERATOR: frozenset({Verb.READ, Verb.EXECUTE}) | OWN,
    Role.EDITOR: frozenset({Verb.READ, Verb.EXECUTE, Verb.WRITE}) | OWN,
    Role.ADMIN: frozenset({Verb.READ, Verb.EXECUTE, Verb.WRITE, Verb.MANAGE, Verb.AUDIT}) | OWN,
    Role.WORKER: frozenset({Verb.WORK}) | OWN,
    Role.AUDITOR: frozenset({Verb.READ, Verb.AUDIT}) | OWN,
}


class Action(NamedTuple):
    """One line of the table."""

    verb: Verb
    audited: bool = False
    platform: bool = False


ACTIONS: Final[dict[str, Action]] = {
    "jobs.create": Action(Verb.WRITE, audited=True),
    "jobs.list": Action(Verb.READ),
    "jobs.read": Action(Verb.READ),
    "jobs.pause": Action(Verb.EXECUTE, audited=True),
    "jobs.resume": Action(Verb.EXECUTE, audited=True),
    "jobs.remove": Action(Verb.WRITE, audited=True),
    "tasks.put": Action(Verb.EXECUTE),  # tasks are in the ledger of their key and in events
    "tasks.cancel": Action(Verb.EXECUTE),
    "tasks.read": Action(Verb.READ),
    "jobs.update": Action(Verb.WRITE, audited=True),
    "jobs.label": Action(Verb.WRITE, audited=True),
    "jobs.versions": Action(Verb.READ),
    "jobs.occurrence": Action(Verb.WRITE, audited=True),
    "jobs.preview": Action(Verb.READ),
    "jobs.forecast": Action(Verb.READ),
    "jobs.test": Action(Verb.EXECUTE),
    "jobs.bulk": Action(Verb.EXECUTE),  # each job it changes has its own audit row
    "jobs.trigger": Action(Verb.EXECUTE, audited=True),
    "jobs.backfill": Action(Verb.EXECUTE, audited=True),
    "backfills.list": Action(Verb.READ),
    "backfills.read": Action(Verb.READ),
    "backfills.cancel": Action(Verb.EXECUTE, audited=True),
    "instances.list": Action(Verb.READ),
    "instances.read": Action(Verb.READ),
    "instances.cancel": Action(Verb.EXECUTE, audited=True),
    "instances.retry": Action(Verb.EXECUTE, audited=True),
    "holds.list": Action(Verb.READ),
    "dead_letters.list": Action(Verb.READ),
    "dead_letters.replay": Action(Verb.EXECUTE, audited=True),
    "dead_letters.replay_many": Action(Verb.EXECUTE),  # an audit row for each page of letters
    "dead_letters.discard": Action(Verb.EXECUTE, audited=True),
    "workers.poll": Action(Verb.WORK),
    "workers.heartbeat": Action(Verb.WORK),
    "workers.finish": Action(Verb.WORK),
    "workers.fail": Action(Verb.WORK),
    "calendars.list": Action(Verb.READ),
    "calendars.read": Action(Verb.READ),
    "calendars.put": Action(Verb.WRITE, audited=True),
    "sources.list": Action(Verb.READ),
    "sources.read": Action(Verb.READ),
    "sources.put": Action(Verb.WRITE, audited=True),
    "sources.remove": Action(Verb.WRITE, audited=True),
    "sources.run": Action(Verb.EXECUTE, audited=True),
    "sources.pause": Action(Verb.EXECUTE, audited=True),
    "sources.resume": Action(Verb.EXECUTE, audited=True),
    "sources.push": Action(Verb.EXECUTE),  # what it repairs has its own audit rows
    "subjects.list": Action(Verb.READ),
    "subjects.coverage": Action(Verb.READ),
    "subjects.add": Action(Verb.EXECUTE),  # members of a set come and go as tasks do
    "subjects.remove": Action(Verb.EXECUTE),
    "subjects.import": Action(Verb.EXECUTE),
    "health.read": Action(Verb.READ),
    "nodes.list": Action(Verb.READ, platform=True),
    "shards.list": Action(Verb.READ, platform=True),
    "keys.create": Action(Verb.MANAGE, audited=True),
    "keys.list": Action(Verb.MANAGE),
    "keys.revoke": Action(Verb.MANAGE, audited=True),
    "roles.read": Action(Verb.READ),
    "me.read": Action(Verb.SELF),
    "session.choose": Action(Verb.SELF),
    "session.end": Action(Verb.SELF),
    "sessions.list": Action(Verb.MANAGE),
    "sessions.revoke": Action(Verb.MANAGE, audited=True),
    "bindings.list": Action(Verb.MANAGE),
    "bindings.put": Action(Verb.MANAGE, audited=True),
    "audit.list": Action(Verb.AUDIT),
    "audit.seal": Action(Verb.AUDIT, platform=True),
    "secrets.put": Action(Verb.MANAGE, audited=True),
    "secrets.list": Action(Verb.MANAGE),
    "secrets.remove": Action(Verb.MANAGE, audited=True),
    "subscriptions.put": Action(Verb.WRITE, audited=True),
    "subscriptions.list": Action(Verb.READ),
    "subscriptions.read": Action(Verb.READ),
    "subscriptions.remove": Action(Verb.WRITE, audited=True),
    "subscriptions.replay": Action(Verb.EXECUTE, audited=True),
    "subscriptions.pause": Action(Verb.EXECUTE, audited=True),
    "subscriptions.resume": Action(Verb.EXECUTE, audited=True),
    "intakes.put": Action(Verb.WRITE, audited=True),
    "intakes.list": Action(Verb.READ),
    "intakes.read": Action(Verb.READ),
    "intakes.remove": Action(Verb.WRITE, audited=True),
    "intakes.pause": Action(Verb.EXECUTE, audited=True),
    "intakes.resume": Action(Verb.EXECUTE, audited=True),
    "parked.list": Action(Verb.READ),
    "parked.replay": Action(Verb.EXECUTE, audited=True),
    "parked.drop": Action(Verb.EXECUTE, audited=True),
    "tenant.read": Action(Verb.READ),
    "tenant.pause": Action(Verb.EXECUTE, audited=True),
    "tenant.resume": Action(Verb.EXECUTE, audited=True),
    "tenants.pause": Action(Verb.MANAGE, audited=True, platform=True),
    "tenants.resume": Action(Verb.MANAGE, audited=True, platform=True),
    "tenants.remove": Action(Verb.MANAGE, audited=True, platform=True),
    "tenants.create": Action(Verb.MANAGE, audited=True, platform=True),
    "tenants.list": Action(Verb.READ, platform=True),
    "tenants.read": Action(Verb.READ, platform=True),
    "tenants.allow": Action(Verb.MANAGE, audited=True, platform=True),
    "tenants.widen": Action(Verb.MANAGE, audited=True, platform=True),
    "tenants.keys.create": Action(Verb.MANAGE, audited=True, platform=True),
    "metrics.read": Action(Verb.READ, platform=True),
}

LOGIN: Final = frozenset({"/login", "/login/callback", "/login/key", "/login/ways"})
"""Where people come in: what they show is looked at there."""
CONSOLE: Final = frozenset({"/", "/console", "/console/{path:path}"})
"""The console's files, the same for everyone: what it shows it asks of the API."""
ANONYMOUS: Final = LOGIN | CONSOLE | {"/healthz", "/readyz", "/openapi.json", "/docs", "/docs/style.css"}
"""What anyone may ask: to be let in, the console, two probes, and the reference; none holds anything of any tenant."""


def roles_for(action: str) -> list[Role]:
    """The roles that may do an action."""
    return [role for role, verbs in GRANTS.items() if ACTIONS[action].verb in verbs]


def may(action: str, roles: Iterable[Role], scopes: Iterable[str], *, platform: bool) -> bool:
    """Whether roles, narrowed by scopes, cover an action; what the table does not know is denied."""
    meant = ACTIONS.get(action)
    if meant is None or (meant.platform and not platform):
        return False
    narrowed = [] if meant.verb is Verb.SELF else list(scopes)
    return any(meant.verb in GRANTS[role] for role in roles) and (not narrowed or any(_in(action, s) for s in narrowed))


def why_not(action: str, roles: Iterable[Role], *, platform: bool) -> str:
    """Why roles, or the scopes that narrow them, do not cover an action, and what would."""
    meant = ACTIONS[action]
    if meant.platform and not platform:
        return f"{action} needs a key of the platform's tenant `{PLATFORM}`: no role of another tenant covers it"
    fitting = [role.value for role in Role if meant.verb in GRANTS[role]]
    if any(role.value in fitting for role in roles):
        return f"{action} is not among the scopes of this credential"
    return f"{action} needs one of the roles {', '.join(fitting)}"


def known_scope(scope: str) -> bool:
    """Whether a scope narrows to anything: the name of an action, or a group such as `jobs.*`."""
    return any(_in(action, scope) for action in ACTIONS)


def _in(action: str, scope: str) -> bool:
    return action == scope or (scope.endswith(".*") and action.startswith(scope[:-1]))
