"""Settling as the engine speaks of it. The writing lives in `store`, because workers' answers end the same way."""

from horae.store.settle import Result, Settled, Settler

__all__ = ["Result", "Settled", "Settler"]
