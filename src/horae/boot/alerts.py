"""What sends alerts in a node: mail server, secrets, and the published addresses of the deployment."""

from contextlib import suppress
from uuid import UUID

from horae.delivery.alert_channels.mail import Mailer
from horae.delivery.alert_channels.sender import AlertSender
from horae.delivery.push import Sender
from horae.domain.ids import shard_in
from horae.repositories.secret_book import SecretBook
from horae.runtime.settings import Settings
from horae.store.store import Store
from horae.store.tx import GONE
from horae.upkeep.alert_messages import AlertPages


def alert_sender_of(store: Store, sender: Sender, book: SecretBook | None, mailer: Mailer | None) -> AlertSender:
    """What sends messages to alert channels, with the client and the secrets of a node."""

    async def learn(tenant_id: UUID, name: str) -> None:
        """Read a secret at home, or from the first copy that answers: an alert waits for no cell that is down."""
        if book is not None:
            for cell in store.home_first(shard_in(tenant_id)):
                with suppress(*GONE):
                    await book.learn(cell, {tenant_id: [name]})
                    return

    return AlertSender(sender.client, sender.secrets, learn, mailer, sender.wall)


def mailer_of(settings: Settings) -> Mailer | None:
    """The mail server of the platform; None without one."""
    return None if (server := settings.smtp()) is None else Mailer(server)


def pages_of(settings: Settings) -> AlertPages:
    """The published addresses that messages link to."""
    return AlertPages(settings.console_url, settings.runbook_url)
