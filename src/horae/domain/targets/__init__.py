"""Targets of attempts: addresses, egress rules, authentication, calls and answers."""
