"""Schedules: change, preview, forecast, calendars and backfills."""
