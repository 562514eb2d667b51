"""What the views of subscriptions and intakes share."""

from datetime import datetime
from typing import Any

from horae.api.models.base import ResponseModel
from horae.domain.events.channels import Channel


class ChannelView(ResponseModel):
    """A channel: its name and version, and who changed it when."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    paused_at: datetime | None

    @staticmethod
    def facts(channel: Channel) -> dict[str, Any]:
        """Returns the fields of a channel."""
        return {field: getattr(channel, field) for field in ChannelView.model_fields}
