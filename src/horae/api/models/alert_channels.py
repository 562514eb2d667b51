"""Models of alert channels."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from horae.api.models.base import RequestModel, ResponseModel, Text
from horae.api.models.channels import ChannelView
from horae.api.models.showing import show_as
from horae.domain.alerts import channels
from horae.domain.alerts.alerts import MessageState
from horae.domain.alerts.channels import MOST_RECIPIENTS, PAGERDUTY_URL, AlertLanguage
from horae.domain.ids import Prefix, public
from horae.domain.targets.auth import LONGEST_SECRET_NAME
from horae.service.alerts.channels import AlertDefinition, ChannelTest

SecretName = Annotated[str, Field(min_length=1, max_length=LONGEST_SECRET_NAME, strict=True)]


class Feishu(RequestModel):
    """A custom bot of a Feishu or Lark group. `url_secret` names the secret that holds its hook."""

    kind: Literal["feishu"]
    language: AlertLanguage = AlertLanguage.EN
    url_secret: SecretName
    signing: SecretName | None = None


class DingTalk(RequestModel):
    """A custom robot of a DingTalk group."""

    kind: Literal["dingtalk"]
    language: AlertLanguage = AlertLanguage.EN
    url_secret: SecretName
    signing: SecretName | None = None


class WeCom(RequestModel):
    """A robot of a WeCom group."""

    kind: Literal["wecom"]
    language: AlertLanguage = AlertLanguage.EN
    url_secret: SecretName


class Slack(RequestModel):
    """An incoming webhook of a Slack channel."""

    kind: Literal["slack"]
    language: AlertLanguage = AlertLanguage.EN
    url_secret: SecretName


class PagerDuty(RequestModel):
    """An integration of a PagerDuty service (Events API v2). `routing_key` names a secret."""

    kind: Literal["pagerduty"]
    language: AlertLanguage = AlertLanguage.EN
    routing_key: SecretName
    url: Text = PAGERDUTY_URL


class Alertmanager(RequestModel):
    """A Prometheus Alertmanager by its base address. `bearer` names the secret with a token, if it wants one."""

    kind: Literal["alertmanager"]
    language: AlertLanguage = AlertLanguage.EN
    url: Text
    bearer: SecretName | None = None


class AlertWebhook(RequestModel):
    """A URL that takes messages as JSON, signed by Standard Webhooks with a named secret."""

    kind: Literal["webhook"]
    language: AlertLanguage = AlertLanguage.EN
    url: Text
    signing: SecretName


class Email(RequestModel):
    """E-mail to some addresses over the mail server of the platform."""

    kind: Literal["email"]
    language: AlertLanguage = AlertLanguage.EN
    to: Annotated[list[Text], Field(min_length=1, max_length=MOST_RECIPIENTS)]


AlertChannelModel = Feishu | DingTalk | WeCom | Slack | PagerDuty | Alertmanager | AlertWebhook | Email
MODELS: Final[dict[type[channels.AlertChannel], type[AlertChannelModel]]] = {
    channels.FeishuChannel: Feishu,
    channels.DingTalkChannel: DingTalk,
    channels.WeComChannel: WeCom,
    channels.SlackChannel: Slack,
    channels.PagerDutyChannel: PagerDuty,
    channels.AlertmanagerChannel: Alertmanager,
    channels.WebhookChannel: AlertWebhook,
    channels.EmailChannel: Email,
}
EXAMPLE: Final[JsonDict] = {"channel": {"kind": "feishu", "url_secret": "feishu-hook", "language": "zh"}}


class NewAlertChannel(RequestModel):
    """Where messages about alerts go. Credentials are named secrets; no value of one is part of a channel."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    channel: Annotated[AlertChannelModel, Field(discriminator="kind")]

    def to_domain(self) -> channels.AlertChannel:
        """Returns the alert channel of the domain."""
        found: channels.AlertChannel = msgspec.convert(
            self.channel.model_dump(mode="json", exclude_none=True), channels.AlertChannel
        )
        return found


class AlertChannelView(ChannelView):
    """An alert channel."""

    channel: Annotated[AlertChannelModel, Field(discriminator="kind")]

    @classmethod
    def of(cls, detail: AlertDefinition[channels.AlertChannel]) -> "AlertChannelView":
        """Returns the view of an alert channel."""
        model = show_as(MODELS[type(detail.meaning)], detail.meaning)
        return cls.model_construct(**cls.facts(detail.channel), channel=model)


class ChannelTestView(ResponseModel):
    """A test of an alert channel. `state` is PENDING until the channel has taken the message; `error` says why not."""

    id: str = Field(examples=["alr_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    state: MessageState
    attempts: int
    sent_at: datetime | None = None
    error: str | None = None

    @classmethod
    def of(cls, test: ChannelTest) -> "ChannelTestView":
        """Returns the view of a test."""
        row = test.message
        return cls(
            id=public(Prefix.ALERT, test.id),
            state=MessageState(row.state),
            attempts=row.attempts,
            sent_at=row.sent_at,
            error=row.error,
        )
