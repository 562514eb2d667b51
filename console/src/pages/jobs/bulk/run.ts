import { postBulkJobs } from "../../../api/generated/client";
import type { BulkItemView, BulkJobsRequest } from "../../../api/generated/models";
import { type BulkOutcome, type BulkVerb, chunksOf, outcomeOf } from "./selected-jobs";

/** Jobs that one request looks at, and jobs that one request changes: each of these has a transaction of its own. */
const PLANNED_AT_ONCE = 1000;
const CHANGED_AT_ONCE = 100;

/** Asks what an action would do to the jobs with these names, or to all that a filter wants. Nothing changes. */
export async function plan(
  verb: BulkVerb,
  wanted: Partial<BulkJobsRequest> | string[],
  signal: AbortSignal,
): Promise<BulkOutcome> {
  const filters = Array.isArray(wanted)
    ? chunksOf(wanted, PLANNED_AT_ONCE).map((names) => ({ names }))
    : [wanted];
  const items: BulkItemView[] = [];
  for (const filter of filters) {
    let after = "";
    do {
      const request = { ...filter, verb, after, limit: PLANNED_AT_ONCE, dry_run: true };
      const page = await postBulkJobs(request, { signal });
      items.push(...page.items);
      after = page.next ?? "";
    } while (after);
  }
  return outcomeOf(items);
}

/** Does an action to exactly these jobs, and stops where `isStopped` says so; `onDone` hears how many are done. */
export async function run(
  verb: BulkVerb,
  names: string[],
  key: string,
  isStopped: () => boolean,
  onDone: (done: number) => void,
): Promise<BulkOutcome> {
  const items: BulkItemView[] = [];
  let done = 0;
  for (const [index, chunk] of chunksOf(names, CHANGED_AT_ONCE).entries()) {
    if (isStopped()) break;
    const headers = { "Idempotency-Key": `${key}-${index}` };
    const page = await postBulkJobs({ verb, names: chunk, limit: CHANGED_AT_ONCE }, { headers });
    items.push(...page.items);
    done += chunk.length;
    onDone(done);
  }
  return outcomeOf(items);
}
