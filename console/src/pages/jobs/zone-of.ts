import type { JobView } from "../../api/generated/models";

/** The time zone of a job; undefined for triggers without a zone. */
export function zoneOf(job: JobView): string | undefined {
  return job.trigger.kind === "cron" ? (job.trigger.zone ?? undefined) : undefined;
}
