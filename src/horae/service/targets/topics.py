"""Checks which topics a job may target, by the deployment's settings at the time the job is written."""

from horae.domain.events.channels import check_topic
from horae.domain.jobs.jobs import Definition
from horae.domain.targets.targets import TopicTarget
from horae.service.context import Context


def check_target(ctx: Context, definition: Definition) -> None:
    """Refuse a topic that the tenant may not use."""
    if isinstance(definition.target, TopicTarget):
        check_topic(ctx.store.brokers, ctx.tenant.name, definition.target.place)
