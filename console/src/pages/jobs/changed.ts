import type { JobView } from "../../api/generated/models";
import { queries } from "../../app/queries";

/** A job changed by our own hand: what was read of it before is read anew. */
export async function changed(job: JobView): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["job", job.name] }),
    queries.invalidateQueries({ queryKey: ["jobs"] }),
    queries.invalidateQueries({ queryKey: ["forecast"] }),
  ]);
}
