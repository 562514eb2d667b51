"""Time zones: their rules, their spans, and what a job does when clocks change."""
