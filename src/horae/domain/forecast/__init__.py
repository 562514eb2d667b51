"""The forecast: how many fires each coming second has, over all schedules.

Here live the seconds of one schedule (`patterns`), the sum over many (`fleet`) and proposals against peaks (`flatten`).
Reading the jobs and answering requests live in `service`.
"""

from horae.domain.forecast.flatten import Proposal, ShiftedJob, propose
from horae.domain.forecast.fleet import MOST_WORK, Forecast, forecast, forecast_steps

__all__ = ["MOST_WORK", "Forecast", "Proposal", "ShiftedJob", "forecast", "forecast_steps", "propose"]
