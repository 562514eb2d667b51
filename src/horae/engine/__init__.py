"""Time passed: fire, claim, settle, rescue. Correctness lives in the row; memory is a hint."""
