"""Secrets: credentials that calls use. No answer contains their values."""

from collections.abc import Sequence

from horae_client.asked import secrets as asked
from horae_client.models import Secret
from horae_client.sync.verbs import Items, Verbs


class Secrets(Verbs):
    """The secrets of the tenant. Targets, sinks and channels name them."""

    def put(self, name: str, value: str, *, hosts: Sequence[str] | None = None) -> Secret:
        """Create or replace a secret. Calls use the new value within five seconds, and send it only to `hosts`.

        A host is a name, `*.example.com` or an address; an empty list allows all hosts. Without `hosts`, an existing
        secret keeps its hosts.

        >>> made = client.secrets.put("crm-token", "s3cr3t", hosts=["crm.example.com"])
        >>> made.version, made.hosts
        (1, ['crm.example.com'])
        """
        return self._ask(asked.put(name, value, hosts))

    def list(self, *, limit: int | None = None) -> Items[Secret]:
        """List the secrets by name, without their values.

        >>> made = client.secrets.put("crm-token", "s3cr3t", hosts=["crm.example.com"])
        >>> [one.name for one in client.secrets.list()]
        ['crm-token']
        """
        return self._pages(asked.secrets(), limit)

    def remove(self, name: str) -> Secret:
        """Remove a secret. Calls that need it fail from then on.

        >>> made = client.secrets.put("crm-token", "s3cr3t", hosts=["crm.example.com"])
        >>> gone = client.secrets.remove("crm-token")
        >>> gone.name
        'crm-token'
        """
        return self._ask(asked.remove(name))
