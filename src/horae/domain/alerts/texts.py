"""The words of an alert message, in English and Chinese: what happened, what it means, and what to open.

A channel gets the text as a title and lines, and escapes them by the rules of its vendor. All foreign texts are on one
line here, without control characters and of bounded length.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote

from horae.domain.alerts import chinese, english
from horae.domain.alerts.bounds import one_line
from horae.domain.alerts.channels import AlertLanguage
from horae.domain.alerts.messages import AlertMessage, AlertStatus
from horae.domain.alerts.words import AlertWords
from horae.domain.errors import Invalid
from horae.domain.targets.urls import check_url

WORDS: Final[dict[AlertLanguage, AlertWords]] = {AlertLanguage.EN: english.WORDS, AlertLanguage.ZH: chinese.WORDS}
LONGEST_LINK: Final = 1000
"""Characters of a URL in a message, as it is sent. A longer one is shown as the beginning of a text."""
LONGEST_TITLE_NAME: Final = 80
"""Characters of a name in a title."""
URL_CHARACTERS: Final = ":/?#&=%+,;@$-.~"
"""Characters, beside letters, digits and underscores, that stay in a link; no markup of a vendor begins with them."""

Rendered = TypeVar("Rendered")


class TextLine(NamedTuple):
    """One line of a text. A link has the URL as its value."""

    label: str
    value: str
    is_link: bool = False


class AlertText(NamedTuple):
    """The text of a message. `colon` is what its language puts between the label and the value of a line."""

    title: str
    lines: tuple[TextLine, ...]
    colon: str

    def plain(self) -> str:
        """Return all lines as plain text."""
        return self._join(self.lines)

    def facts(self) -> str:
        """Return the lines without the links as plain text."""
        return self._join(line for line in self.lines if not line.is_link)

    def links(self) -> list[TextLine]:
        """Return the lines that are links."""
        return [line for line in self.lines if line.is_link]

    def _join(self, lines: Iterable[TextLine]) -> str:
        return "\n".join([f"{line.label}{self.colon}{line.value}" for line in lines])


class TextLimits(NamedTuple):
    """How long a text may be: the characters of one value, and the number of extra facts."""

    value_characters: int
    extra_facts: int


LIMITS: Final = (TextLimits(500, 10), TextLimits(200, 5), TextLimits(40, 0))
"""From the longest text to the shortest: a channel takes the first that fits into its bound."""


def title(message: AlertMessage, language: AlertLanguage) -> str:
    """Return one line: how serious, what, where, and how many. It always begins with `[Horae]`."""
    words = WORDS[language]
    match message.status:
        case AlertStatus.FIRING:
            state = words.severities[message.severity]
        case AlertStatus.RESOLVED | AlertStatus.TEST:
            state = words.statuses[message.status]
    parts = [f"[Horae] {state}{words.colon}{words.names[message.kind]}", _place(message)]
    if message.count > 1:
        parts.append(words.times.format(count=message.count))
    return " · ".join(parts)


def body(message: AlertMessage, language: AlertLanguage) -> str:
    """Return everything but the title as plain text: job, owner, reason, what it means, link and runbook."""
    return alert_text(message, language).plain()


def alert_text(message: AlertMessage, language: AlertLanguage, limits: TextLimits = LIMITS[0]) -> AlertText:
    """Return the title and the lines of a message within the limits."""
    words, most = WORDS[language], limits.value_characters
    known = [
        TextLine(words.status, words.statuses[message.status]),
        TextLine(words.job, one_line(message.job or "", most)),
        TextLine(words.tenant, one_line(message.tenant, most)),
        TextLine(words.owner, one_line(message.owner or "", most)),
        TextLine(words.label, one_line(message.label or "", most)),
        TextLine(words.reason, one_line(message.reason, most)),
        TextLine(words.meaning, _meaning(message, words)),
        TextLine(words.opened_at, _time(message.opened_at)),
        TextLine(words.resolved_at, _time(message.resolved_at)),
    ]
    extra = list(message.extra.items())[: limits.extra_facts]
    known += [TextLine(one_line(name, most), one_line(value, most)) for name, value in extra]
    known += [_link(words.link, message.link, most), _link(words.runbook, message.runbook, most)]
    known.append(TextLine(words.id, one_line(message.id, most)))
    return AlertText(title(message, language), tuple(line for line in known if line.value), words.colon)


def fitting(
    message: AlertMessage,
    language: AlertLanguage,
    render: Callable[[AlertText], Rendered],
    fits: Callable[[Rendered], bool],
) -> Rendered:
    """Return the longest rendering of a message that fits; the shortest one where none does."""
    for limits in LIMITS:
        rendered = render(alert_text(message, language, limits))
        if fits(rendered):
            break
    return rendered


def safe_link(url: str | None) -> str | None:
    """Return a URL in which every character that could end a link is percent-encoded; None where it is no web URL."""
    if url is None:
        return None
    try:
        check_url(url)
    except Invalid:
        return None
    link = quote(url, safe=URL_CHARACTERS)
    return link if len(link) <= LONGEST_LINK else None


def _place(message: AlertMessage) -> str:
    names = (message.tenant, message.job or message.label or message.owner)
    return "/".join([one_line(name, LONGEST_TITLE_NAME) for name in names if name])


def _meaning(message: AlertMessage, words: AlertWords) -> str:
    match message.status:
        case AlertStatus.FIRING:
            return words.meanings[message.kind]
        case AlertStatus.RESOLVED:
            return words.resolved_meaning
        case AlertStatus.TEST:
            return words.test_meaning


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _link(label: str, url: str | None, most: int) -> TextLine:
    """Return a line with a link; a runbook that is no web URL, such as the name of a page, stays a text."""
    link = safe_link(url)
    return TextLine(label, link, is_link=True) if link else TextLine(label, one_line(url or "", most))
