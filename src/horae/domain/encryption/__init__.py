"""Encrypted values, named secrets, and the confidential parts of a definition."""
