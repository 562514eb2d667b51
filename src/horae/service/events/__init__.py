"""Subscriptions, intakes and parked messages."""
