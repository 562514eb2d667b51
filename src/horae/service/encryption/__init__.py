"""Encryption of values, data keys and named secrets."""
