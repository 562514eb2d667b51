"""Statements of schedules: cursors, calendars, backfills and time zone rules."""
