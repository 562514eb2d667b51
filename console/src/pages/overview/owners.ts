/** Returns the owners of some jobs, each once, by name. */
export const ownersOf = (jobs: { owner?: string | null }[]): string[] =>
  [...new Set(jobs.flatMap((job) => job.owner ?? []))].sort();
