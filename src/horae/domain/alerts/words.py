"""The words that a language needs for the text of an alert."""

from collections.abc import Mapping
from typing import NamedTuple

from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.messages import AlertStatus


class AlertWords(NamedTuple):
    """The words of one language.

    `names` say what happened in a few words, `meanings` what it means for the person who reads it. The others are the
    names of lines, in the order of a message.
    """

    names: Mapping[AlertKind, str]
    meanings: Mapping[AlertKind, str]
    severities: Mapping[AlertSeverity, str]
    statuses: Mapping[AlertStatus, str]
    resolved_meaning: str
    test_meaning: str
    colon: str
    times: str
    status: str
    job: str
    tenant: str
    owner: str
    label: str
    reason: str
    meaning: str
    opened_at: str
    resolved_at: str
    link: str
    runbook: str
    id: str
