"""Alerts to people: their kinds, the messages about them, the texts of these messages, and the channels they take."""
