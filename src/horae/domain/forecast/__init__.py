"""How many fires each coming second will see, over a whole fleet, before it happens."""

from horae.domain.forecast.flatten import Move, Proposal, propose
from horae.domain.forecast.fleet import MOST_WORK, Forecast, forecast, forecast_steps

__all__ = ["MOST_WORK", "Forecast", "Move", "Proposal", "forecast", "forecast_steps", "propose"]
