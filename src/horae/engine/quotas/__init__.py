"""Limits that several nodes share, without a statement per fire. `docs/limits.md` says what they promise."""

from horae.engine.quotas.quotas import Quotas

__all__ = ["Quotas"]
