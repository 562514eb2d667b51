"""Statements of the audit log and its hash chain."""
