"""Exhibitions: each opens its enrolment at an hour of its own, and tells those who reserved a place."""
