import type { JobView } from "../../api/generated/models";
import { Coverage } from "./Coverage";
import { Subjects } from "./Subjects";

/** A rolling job's set: how well it is covered, and who is in it. */
export function Covered({ job }: { job: JobView }) {
  return (
    <>
      <Coverage job={job} />
      <Subjects job={job} />
    </>
  );
}
