"""The forecast: how many fires each coming second has, over all schedules.

Here live the seconds of one schedule (`patterns`), the sum over many (`fleet`), proposals against peaks (`spreading`)
and the effect of one more job (`what_if`). Reading the jobs and answering requests live in `service`.
"""

from horae.domain.forecast.fleet import MOST_WORK, Forecast, Peak, forecast, forecast_steps
from horae.domain.forecast.spreading import (
    MAX_DELAY_S,
    SpreadCandidate,
    SpreadMove,
    SpreadProposal,
    StayReason,
    spread_proposal,
    spread_steps,
)
from horae.domain.forecast.what_if import ForecastChange, change_steps

__all__ = [
    "MAX_DELAY_S",
    "MOST_WORK",
    "Forecast",
    "ForecastChange",
    "Peak",
    "SpreadCandidate",
    "SpreadMove",
    "SpreadProposal",
    "StayReason",
    "change_steps",
    "forecast",
    "forecast_steps",
    "spread_proposal",
    "spread_steps",
]
