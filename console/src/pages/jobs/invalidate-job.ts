import type { JobView } from "../../api/generated/models";
import { queries } from "../../app/queries";

/** Reads a job again after this console changed it. */
export async function invalidateJob(job: JobView): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["job", job.name] }),
    queries.invalidateQueries({ queryKey: ["jobs"] }),
    queries.invalidateQueries({ queryKey: ["forecast"] }),
  ]);
}
