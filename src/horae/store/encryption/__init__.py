"""Statements of data keys and named secrets."""
