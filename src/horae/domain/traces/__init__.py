"""Traces: W3C trace contexts, which fires are sampled, and the spans of an instance."""
