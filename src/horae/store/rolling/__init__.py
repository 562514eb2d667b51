"""Statements of rolling sets: subjects and coverage."""
