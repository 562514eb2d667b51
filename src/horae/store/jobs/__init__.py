"""Statements of jobs and their versions."""
