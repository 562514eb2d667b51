"""Plans: the steps from the stored jobs to the jobs that a schedule file declares."""
