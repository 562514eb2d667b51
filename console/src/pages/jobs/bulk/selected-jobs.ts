import type { BulkItemView, BulkJobsRequest, JobView } from "../../../api/generated/models";
import type { ListSearch } from "../routes";

/** The selected jobs: those with these names, or all that match the filters. */
export interface SelectedJobs {
  isAll: boolean;
  names: ReadonlySet<string>;
}

export const NOTHING: SelectedJobs = { isAll: false, names: new Set() };

export const BULK_VERBS = ["pause", "resume", "trigger", "retry"] as const;
export type BulkVerb = (typeof BULK_VERBS)[number];
export const OPPOSITE: Partial<Record<BulkVerb, BulkVerb>> = { pause: "resume", resume: "pause" };

/** The statuses that a verb is for; a request without any filter is limited to them. */
const STATUS_OF = { pause: "ACTIVE", resume: "PAUSED", trigger: "ACTIVE", retry: "ACTIVE" } as const;

/** Returns the selection with some jobs more or less. One job less than all begins a new selection. */
export function withJobs(selected: SelectedJobs, jobs: JobView[], isSelected: boolean): SelectedJobs {
  const names = new Set(selected.isAll ? [] : selected.names);
  for (const { name } of jobs) isSelected ? names.add(name) : names.delete(name);
  return { isAll: false, names };
}

/** Returns the filter of a request for all jobs that match the filters of the list. */
export function wantedOf(verb: BulkVerb, filters: ListSearch): Partial<BulkJobsRequest> {
  const { status, label, owner, prefix, contains } = filters;
  const [name = "", value] = label?.split(/=(.*)/s) ?? [];
  return {
    status: (status as BulkJobsRequest["status"]) ?? STATUS_OF[verb],
    labels: name && value !== undefined ? { [name]: value } : undefined,
    with_labels: name && value === undefined ? [name] : undefined,
    owner,
    prefix,
    contains,
  };
}

/** What a bulk action would change, or has changed. */
export interface BulkOutcome {
  changed: string[];
  refused: BulkItemView[];
}

export const outcomeOf = (items: BulkItemView[]): BulkOutcome => ({
  changed: items.filter((item) => item.ok).map((item) => item.name),
  refused: items.filter((item) => !item.ok),
});

export function chunksOf<Item>(items: Item[], size: number): Item[][] {
  const chunks: Item[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
