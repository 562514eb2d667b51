import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { getJob, putJob } from "../../../api/generated/client";
import type { JobView } from "../../../api/generated/models";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { Page } from "../../../parts/Page";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { invalidateJob } from "../invalidate-job";
import { changeOf, draftOf } from "./draft";
import { JobForm } from "./JobForm";
import "../jobs.css";

/** Edits a job. It is read once, so that a later change by another user is a conflict and is not overwritten. */
export function EditJobPage() {
  const { t } = useTranslation("jobs");
  const { job } = useParams({ from: "/jobs/$job/edit" });
  const query = useQuery({
    queryKey: ["edited", job],
    queryFn: ({ signal }) => getJob(job, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Page title={t("change.title", { name: job })}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.data && <Edit job={query.data} />}
    </Page>
  );
}

function Edit({ job }: { job: JobView }) {
  const key = useIdempotencyKey();
  const navigate = useNavigate();
  return (
    <JobForm
      initial={draftOf(job)}
      base={job}
      action="jobs.update"
      texts="change"
      onSubmit={async (draft) => {
        const saved = await putJob(job.name, changeOf(draft, job), withIdempotencyKey(key));
        await invalidateJob(saved);
        await navigate({
          to: "/jobs/$job",
          params: { job: saved.name },
          search: { view: "versions", before: job.version, after: saved.version },
        });
      }}
    />
  );
}
