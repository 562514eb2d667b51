"""How many fires each coming second will see, over a whole fleet, before it happens."""

from horae.domain.forecast.flatten import Move, Proposal, propose
from horae.domain.forecast.fleet import Forecast, forecast

__all__ = ["Forecast", "Move", "Proposal", "forecast", "propose"]
