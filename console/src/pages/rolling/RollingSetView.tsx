import type { JobView } from "../../api/generated/models";
import { Coverage } from "./Coverage";
import { Subjects } from "./Subjects";

/** The set of a rolling job: its coverage and its subjects. */
export function RollingSetView({ job }: { job: JobView }) {
  return (
    <>
      <Coverage job={job} />
      <Subjects job={job} />
    </>
  );
}
