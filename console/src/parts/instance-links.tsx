import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getJob } from "../api/generated/client";

/** The job of an instance. Only a step of a graph has a slash in its name, `graph/step`: it is shown in its graph. */
export function JobLink({ one }: { one: { job?: string | null; job_id: string } }) {
  const [graph = "", step] = (one.job ?? "").split("/");
  if (step)
    return (
      <Link to="/jobs/$job" params={{ job: graph }} search={{ view: "graph", step }}>
        {one.job}
      </Link>
    );
  return (
    <Link to={`/jobs/${encodeURIComponent(one.job ?? one.job_id)}` as string}>{one.job ?? one.job_id}</Link>
  );
}

/** The job with this id: by its name, where it can be read. */
export function JobLinkById({ id }: { id: string }) {
  const job = useQuery({
    queryKey: ["job", id],
    queryFn: ({ signal }) => getJob(id, { signal }),
    staleTime: 60_000,
    retry: false,
  }).data;
  return <JobLink one={{ job: job?.name, job_id: id }} />;
}

/** The business key, with a link to its ledger. */
export function KeyLink({ one }: { one: { job?: string | null; key?: string | null } }) {
  if (!one.key || !one.job) return one.key ?? null;
  return (
    <Link to="/tasks/$type/$key" params={{ type: one.job, key: one.key }}>
      {one.key}
    </Link>
  );
}
