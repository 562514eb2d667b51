"""Answers of vendors that say 200 and put their refusal as a number into the body."""

from collections.abc import Mapping
from typing import NamedTuple

from horae.delivery.alert_channels.requests import check_status, later
from horae.delivery.http import HttpAnswer
from horae.domain.errors import ChannelRefused, Unavailable


class VendorCodes(NamedTuple):
    """The codes of one vendor: the refusals that no retry changes, and those of a rate with the seconds to wait.

    Every other code may pass by itself, so the message is sent again. No text of the vendor is repeated: only the code
    and our own words for it.
    """

    vendor: str
    refusals: Mapping[int, str]
    rate_pauses_s: Mapping[int, float]

    def check(self, answer: HttpAnswer, code: int | None) -> None:
        """Judge the code of an answer, then its status. None: the body had none that can be read."""
        if code:
            self._refuse(code)
        check_status(self.vendor, answer)
        if code is None:
            raise Unavailable(f"the answer of {self.vendor} cannot be read")

    def _refuse(self, code: int) -> None:
        message = f"{self.vendor} answered with code {code}"
        if code in self.refusals:
            raise ChannelRefused(f"{message}: {self.refusals[code]}")
        raise later(message, self.rate_pauses_s.get(code))
