"""Results and log lines of attempts as rows: encrypted before the transaction that writes them begins."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import msgspec

from horae.domain.encryption.encrypted_values import log_of, result_of
from horae.domain.errors import HoraeError
from horae.domain.instances.instances import Instance
from horae.domain.instances.logs import LogLine, check_lines
from horae.runtime.telemetry import log
from horae.security.payload_cipher import PayloadCipher, encrypt_value
from horae.store.instances.logs import LogRow
from horae.store.instances.results import ResultRow
from horae.store.tx import CUT, GONE

UNENCRYPTED: tuple[type[Exception], ...] = (HoraeError, *GONE, *CUT)
"""Errors for which a report is not stored. The outcome of its attempt is."""


class ClearResult(NamedTuple):
    """A result that is not encrypted yet."""

    value: Any


class ReportingRow(Protocol):
    """What is known of an attempt that has ended."""

    @property
    def ran(self) -> Instance:
        """The instance."""

    @property
    def result(self) -> Any:
        """What it returned: a `ClearResult`, or encrypted; None where it returned nothing."""

    @property
    def lines(self) -> Sequence[LogLine]:
        """What it logged in its answer."""


class ReportRows(NamedTuple):
    """The rows to write with the outcomes of some attempts."""

    result_rows: list[ResultRow]
    log_rows: list[LogRow]


async def encrypt_reports(cipher: PayloadCipher, rows: Sequence[ReportingRow]) -> ReportRows:
    """Returns the rows of results and lines. What cannot be encrypted now is logged and left out."""
    made = ReportRows([], [])
    for row in rows:
        if row.result is not None or row.lines:
            try:
                await _add(cipher, row, made)
            except UNENCRYPTED as error:
                log.warning("report.not_stored", **row.ran.ids(), reason=str(error) or type(error).__name__)
    return made


async def _add(cipher: PayloadCipher, row: ReportingRow, made: ReportRows) -> None:
    ran, result = row.ran, row.result
    if isinstance(result, ClearResult):
        result = encrypt_value(await cipher.key(ran.tenant_id), result_of(ran.id), result.value)
    if result is not None:
        made.result_rows.append(ResultRow(ran.shard, ran.id, ran.tenant_id, result))
    if row.lines:
        size = check_lines(row.lines, None)
        body = encrypt_value(await cipher.key(ran.tenant_id), log_of(ran.id), msgspec.to_builtins(row.lines))
        made.log_rows.append(LogRow(ran, _since(ran), None, len(row.lines), size, body))


def _since(ran: Instance) -> datetime:
    """Returns a time before the first line of an attempt."""
    return ran.due_at
