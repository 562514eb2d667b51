"""API keys, roles and sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from horae_client import keys
from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import identity as asked
from horae_client.models import (
    Action,
    ApiKey,
    Caller,
    CreatedApiKey,
    EndedSessions,
    LoginOptions,
    RoleBinding,
    Session,
)


class AsyncApiKeys(AsyncVerbs):
    """The API keys of the tenant."""

    async def create(
        self,
        name: str,
        *,
        roles: Sequence[str],
        scopes: Sequence[str] = (),
        job_labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
    ) -> CreatedApiKey:
        """Create an API key; `key` of the answer is its secret text, which no other answer has.

        `scopes` restrict the roles to these actions. `job_labels` bind the key to the jobs that have all of them: it
        can neither see nor change others.

        >>> made = await client.api_keys.create("ci", roles=["editor"], job_labels={"horae.owner": "billing"})
        >>> made.roles, made.job_labels, made.key.startswith("horae_")
        (['editor'], {'horae.owner': 'billing'}, True)
        """
        return await self._ask(asked.create_key(asked.new_key(name, roles, scopes, expires_at, job_labels)))

    def list(self, *, limit: int | None = None) -> AsyncItems[ApiKey]:
        """List the API keys, oldest first, including revoked keys.

        >>> made = await client.api_keys.create("dashboard", roles=["viewer"])
        >>> [(one.name, one.roles) async for one in client.api_keys.list()][-1]
        ('dashboard', ['viewer'])
        """
        return self._pages(asked.keys(), limit)

    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke an API key. Every process refuses it within five seconds.

        >>> made = await client.api_keys.create("old", roles=["viewer"])
        >>> gone = await client.api_keys.revoke(made.id)
        >>> gone.revoked_at is None
        False
        """
        return await self._ask(asked.revoke_key(key_id))


class AsyncRoleBindings(AsyncVerbs):
    """The roles of principals: API keys, people (`user:…`) and groups (`group:…`)."""

    def list(self, *, limit: int | None = None) -> AsyncItems[RoleBinding]:
        """List the role bindings.

        >>> bound = await client.role_bindings.set("group:finance", ["viewer"])
        >>> "group:finance" in [one.principal async for one in client.role_bindings.list()]
        True
        """
        return self._pages(asked.bindings(), limit)

    async def set(self, principal: str, roles: Sequence[str], *, idempotency_key: str | None = None) -> RoleBinding:
        """Set the roles of a principal. They replace the old roles; none removes all permissions.

        >>> bound = await client.role_bindings.set("user:ada@example.com", ["operator", "viewer"])
        >>> sorted(bound.roles)
        ['operator', 'viewer']
        """
        return await self._ask(asked.bind(principal, roles, keys.made(idempotency_key)))

    async def actions(self) -> Sequence[Action]:
        """List all actions of the API, and the roles that may perform them.

        >>> actions = await client.role_bindings.actions()
        >>> [one.roles for one in actions if one.action == "jobs.pause"]
        [['operator', 'editor', 'admin']]
        """
        return await self._ask(asked.actions())


class AsyncSessions(AsyncVerbs):
    """The caller, and the sessions that the console and other pages use instead of a key."""

    async def caller(self) -> Caller:
        """Get the caller: tenant, roles, and all actions that the caller may perform.

        >>> me = await client.sessions.caller()
        >>> me.kind, "jobs.create" in me.actions
        ('key', True)
        """
        return await self._ask(asked.caller())

    async def login_options(self) -> LoginOptions:
        """Get the ways to log in.

        >>> options = await client.sessions.login_options()
        >>> options.key, options.oidc
        (True, False)
        """
        return await self._ask(asked.login_options())

    async def log_in(self, api_key: str) -> Caller:
        """Exchange an API key for a session, whose secret is a cookie. This client goes on with its own key.

        >>> me = await client.sessions.log_in(key)
        >>> me.session.csrf != ""
        True
        """
        return await self._ask(asked.log_in(api_key))

    async def log_out(self, *, everywhere: bool = False) -> EndedSessions:
        """End the session of the caller, or all sessions of the caller. The API key stays valid.

        >>> me = await client.sessions.log_in(key)
        >>> done = await client.sessions.log_out(everywhere=True)
        >>> done.ended
        1
        """
        return await self._ask(asked.log_out(everywhere))

    async def select_tenant(self, tenant: str) -> Caller:
        """Switch the session to another tenant of the caller. An API key has one tenant only.

        >>> me = await client.sessions.caller()
        >>> same = await client.sessions.select_tenant(me.tenant)
        >>> same.tenant == me.tenant
        True
        """
        return await self._ask(asked.select_tenant(tenant))

    def list(self, *, limit: int | None = None) -> AsyncItems[Session]:
        """List the sessions of the tenant that may still be valid, oldest first.

        >>> me = await client.sessions.log_in(key)
        >>> [one.id == me.session.id async for one in client.sessions.list()]
        [True]
        """
        return self._pages(asked.sessions(), limit)

    async def revoke(self, session_id: str) -> EndedSessions:
        """Revoke a session. Every process refuses it within five seconds.

        >>> me = await client.sessions.log_in(key)
        >>> done = await client.sessions.revoke(me.session.id)
        >>> done.ended
        1
        """
        return await self._ask(asked.revoke_session(session_id))
