"""Warnings about a job that can be created and whose calls would be refused."""

from typing import Final

from horae.domain.jobs.jobs import Definition
from horae.domain.targets.auth import OAuthAuth
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context
from horae.service.limits.counts import allowance_of

RULES_OF_DEPLOYMENT: Final = (
    "HORAE_EGRESS opens networks, ports and http; with HORAE_ENVIRONMENT=dev this machine and private networks are open"
)
RULES_OF_TENANT: Final = (
    "these are the egress rules of this tenant, which its operator sets in place of HORAE_EGRESS and HORAE_ENVIRONMENT"
)


async def warnings_of(ctx: Context, definition: Definition) -> list[str]:
    """Returns a sentence for each address that the egress rules refuse, as far as its URL tells.

    Nothing is looked up. A process that does not know the rules of the deployment has no warnings.
    """
    deployment = ctx.memory.egress
    if deployment is None or not isinstance(definition.target, HttpTarget):
        return []
    of_tenant = (await allowance_of(ctx)).egress
    rules, whose = (deployment, RULES_OF_DEPLOYMENT) if of_tenant is None else (of_tenant, RULES_OF_TENANT)
    refused = [(url, why) for url in _addresses(definition.target) if (why := rules.url_refusal(url))]
    return [f"every run will be a dead letter, because {url} may not be called: {why}; {whose}" for url, why in refused]


def _addresses(target: HttpTarget) -> list[str]:
    """The addresses that an attempt calls: the target, and the endpoint that issues its tokens."""
    return [target.url, *([target.auth.token_url] if isinstance(target.auth, OAuthAuth) else [])]
