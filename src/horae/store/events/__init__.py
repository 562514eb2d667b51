"""Statements of events: outbox, feeds, channels, intakes and parked messages."""
