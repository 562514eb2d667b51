"""Warnings about a job that can be created and whose calls would be refused."""

from typing import Final, NamedTuple

from horae.domain.jobs.jobs import Definition
from horae.domain.targets.auth import OAuthAuth
from horae.domain.targets.egress import Egress
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context
from horae.service.limits.counts import allowance_of

RULES_OF_DEPLOYMENT: Final = (
    "HORAE_EGRESS opens networks, ports and http; with HORAE_ENVIRONMENT=dev this machine and private networks are open"
)
RULES_OF_TENANT: Final = (
    "these are the egress rules of this tenant, which its operator sets in place of HORAE_EGRESS and HORAE_ENVIRONMENT"
)


class EgressRules(NamedTuple):
    """The egress rules that hold for the calls of a tenant, and a hint who sets them."""

    rules: Egress
    hint: str

    def warnings(self, definition: Definition) -> list[str]:
        """Returns a sentence for each address that the rules refuse, as far as its URL tells. Nothing is looked up."""
        if definition.graph_plan is not None:
            steps = definition.graph_plan.steps
            return [f"step {step.plan.name!r}: {said}" for step in steps for said in self.warnings(step.definition)]
        if not isinstance(definition.target, HttpTarget):
            return []
        refused = [(url, why) for url in _addresses(definition.target) if (why := self.rules.url_refusal(url))]
        return [
            f"every run will be a dead letter, because {url} may not be called: {why}; {self.hint}"
            for url, why in refused
        ]


async def rules_of(ctx: Context) -> EgressRules | None:
    """Returns the rules of the caller's tenant; None in a process that does not know the rules of the deployment."""
    deployment = ctx.memory.egress
    if deployment is None:
        return None
    of_tenant = (await allowance_of(ctx)).egress
    if of_tenant is None:
        return EgressRules(deployment, RULES_OF_DEPLOYMENT)
    return EgressRules(of_tenant, RULES_OF_TENANT)


async def warnings_of(ctx: Context, definition: Definition) -> list[str]:
    """Returns the warnings about one definition. Where the rules are not known there are none."""
    rules = await rules_of(ctx)
    return [] if rules is None else rules.warnings(definition)


def _addresses(target: HttpTarget) -> list[str]:
    """The addresses that an attempt calls: the target, and the endpoint that issues its tokens."""
    return [target.url, *([target.auth.token_url] if isinstance(target.auth, OAuthAuth) else [])]
