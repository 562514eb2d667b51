"""Test requests to targets, and which topics a job may target."""
