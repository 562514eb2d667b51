"""Which topics a job may be sent to: judged when the job is written, by what the deployment says then."""

from horae.domain.channels import check_topic
from horae.domain.jobs import Definition
from horae.domain.targets import TopicTarget
from horae.service.context import Context


def check_target(ctx: Context, definition: Definition) -> None:
    """Refuse topics that are not this tenant's."""
    if isinstance(definition.target, TopicTarget):
        check_topic(ctx.store.brokers, ctx.tenant.name, definition.target.place)
