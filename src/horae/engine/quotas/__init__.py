"""Limits that several nodes share, without a row per fire."""

from horae.engine.quotas.quotas import Quotas

__all__ = ["Quotas"]
