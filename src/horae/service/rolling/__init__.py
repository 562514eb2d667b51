"""The subjects of rolling jobs, and how well they are covered."""
