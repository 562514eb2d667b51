"""Sends one message to one alert channel."""

import time
from collections.abc import Awaitable, Callable
from typing import Final, assert_never
from uuid import UUID

from horae.delivery.alert_channels.alertmanager import alertmanager_request, check_alertmanager
from horae.delivery.alert_channels.dingtalk import check_dingtalk, dingtalk_request
from horae.delivery.alert_channels.feishu import check_feishu, feishu_request
from horae.delivery.alert_channels.mail import Mailer
from horae.delivery.alert_channels.pagerduty import check_pagerduty, pagerduty_request
from horae.delivery.alert_channels.requests import ChannelRequest, ChannelSecrets
from horae.delivery.alert_channels.slack import check_slack, slack_request
from horae.delivery.alert_channels.webhook import check_webhook, webhook_request
from horae.delivery.alert_channels.wecom import check_wecom, wecom_request
from horae.delivery.client import Client, ask
from horae.delivery.http import HttpAnswer, build_request, parse_url
from horae.delivery.secrets import Secrets
from horae.domain.alerts.bounds import bounded
from horae.domain.alerts.channels import (
    AlertChannel,
    AlertmanagerChannel,
    DingTalkChannel,
    EmailChannel,
    FeishuChannel,
    HttpAlertChannel,
    PagerDutyChannel,
    SlackChannel,
    WebhookChannel,
    WeComChannel,
    secrets_of,
)
from horae.domain.alerts.messages import AlertMessage
from horae.domain.errors import ChannelRefused, Unavailable
from horae.domain.instances.outcomes import ErrorCode
from horae.domain.targets.egress import Egress

CONNECT_TIMEOUT_S: Final = 3.0
READ_TIMEOUT_S: Final = 10.0

Check = Callable[[HttpAnswer], None]


class AlertSender:
    """The way out for messages about alerts. `learn` loads a tenant's secret before it is needed."""

    def __init__(
        self,
        client: Client,
        secrets: Secrets,
        learn: Callable[[UUID, str], Awaitable[None]],
        mailer: Mailer | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._client, self._secrets, self._learn, self._mailer = client, secrets, learn, mailer
        self._wall = wall  # real time: vendors compare a signature's time with their own clocks

    async def send(self, tenant_id: UUID, egress: Egress | None, channel: AlertChannel, message: AlertMessage) -> None:
        """Send a message and wait until the channel has taken it.

        Raises `Unavailable` where a later try may succeed; `facts["retry_after"]` is in seconds, where the vendor names
        a time. Raises `ChannelRefused` where no retry helps until a person changes the channel. A message may arrive
        twice when its answer is lost; both have the same id.
        """
        message = bounded(message)
        if isinstance(channel, EmailChannel):
            if self._mailer is None:
                raise ChannelRefused("this deployment sends no e-mail: HORAE_SMTP_HOST is not set")
            await self._mailer.send(channel, message)
            return
        for name in secrets_of(channel):
            await self._learn(tenant_id, name)
        request, check = _prepare(channel, message, ChannelSecrets(self._secrets, tenant_id), self._wall())
        check(await self._post(tenant_id, egress, request))

    async def _post(self, tenant_id: UUID, egress: Egress | None, request: ChannelRequest) -> HttpAnswer:
        place = parse_url(request.url)
        place = place._replace(origin=place.origin._replace(egress=egress))
        sent = build_request("POST", place, request.headers, request.body, CONNECT_TIMEOUT_S, READ_TIMEOUT_S, tenant_id)
        answer = await ask(self._client, sent)
        if isinstance(answer, HttpAnswer):
            return answer
        if answer.code == ErrorCode.REFUSED:
            raise ChannelRefused(f"the channel may not be called: {answer.message}")
        raise Unavailable(f"the channel was not reached: {answer.message}")


def _prepare(
    channel: HttpAlertChannel, message: AlertMessage, secrets: ChannelSecrets, now_s: float
) -> tuple[ChannelRequest, Check]:
    """Return the request of a message, and the function that judges its answer."""
    match channel:
        case FeishuChannel():
            return feishu_request(channel, message, secrets, now_s), check_feishu
        case DingTalkChannel():
            return dingtalk_request(channel, message, secrets, now_s), check_dingtalk
        case WeComChannel():
            return wecom_request(channel, message, secrets), check_wecom
        case SlackChannel():
            return slack_request(channel, message, secrets), check_slack
        case PagerDutyChannel():
            return pagerduty_request(channel, message, secrets), check_pagerduty
        case AlertmanagerChannel():
            return alertmanager_request(channel, message, secrets, now_s), check_alertmanager
        case WebhookChannel():
            return webhook_request(channel, message, secrets, now_s), check_webhook
        case _:
            assert_never(channel)
