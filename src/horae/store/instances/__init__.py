"""Statements of instances: live, ended, expired and dead."""
