"""Secrets: credentials that calls use. No answer contains their values."""

from collections.abc import Sequence

from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import secrets as asked
from horae_client.models import Secret


class AsyncSecrets(AsyncVerbs):
    """The secrets of the tenant. Targets, sinks and channels name them."""

    async def put(self, name: str, value: str, *, hosts: Sequence[str] | None = None) -> Secret:
        """Create or replace a secret. Calls use the new value within five seconds, and send it only to `hosts`.

        A host is a name, `*.example.com` or an address; an empty list allows all hosts. Without `hosts`, an existing
        secret keeps its hosts.

        >>> made = await client.secrets.put("crm-token", "s3cr3t", hosts=["crm.example.com"])
        >>> made.version, made.hosts
        (1, ['crm.example.com'])
        """
        return await self._ask(asked.put(name, value, hosts))

    def list(self, *, limit: int | None = None) -> AsyncItems[Secret]:
        """List the secrets by name, without their values.

        >>> made = await client.secrets.put("crm-token", "s3cr3t", hosts=["crm.example.com"])
        >>> [one.name async for one in client.secrets.list()]
        ['crm-token']
        """
        return self._pages(asked.secrets(), limit)

    async def remove(self, name: str) -> Secret:
        """Remove a secret. Calls that need it fail from then on.

        >>> made = await client.secrets.put("crm-token", "s3cr3t", hosts=["crm.example.com"])
        >>> gone = await client.secrets.remove("crm-token")
        >>> gone.name
        'crm-token'
        """
        return await self._ask(asked.remove(name))
