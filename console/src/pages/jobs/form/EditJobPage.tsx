import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { once } from "../../../api/call";
import { getJob, putJob } from "../../../api/generated/client";
import type { JobView } from "../../../api/generated/models";
import { Page } from "../../../parts/Page";
import { Trouble } from "../../../parts/Trouble";
import { useOneKey } from "../../../parts/useOneKey";
import { changed } from "../changed";
import { changeOf, draftOf } from "./draft";
import { JobForm } from "./JobForm";
import "../jobs.css";

/** The next version of a job. It is read once: whoever else changes it meanwhile is not overwritten but told of. */
export function EditJobPage() {
  const { t } = useTranslation("jobs");
  const { job } = useParams({ from: "/jobs/$job/edit" });
  const asked = useQuery({
    queryKey: ["edited", job],
    queryFn: ({ signal }) => getJob(job, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Page title={t("change.title", { name: job })}>
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      {asked.data && <Edit job={asked.data} />}
    </Page>
  );
}

function Edit({ job }: { job: JobView }) {
  const key = useOneKey();
  const navigate = useNavigate();
  return (
    <JobForm
      start={draftOf(job)}
      base={job}
      action="jobs.update"
      word="change"
      send={async (draft) => {
        const made = await putJob(job.name, changeOf(draft, job), once(key));
        await changed(made);
        await navigate({
          to: "/jobs/$job",
          params: { job: made.name },
          search: { view: "versions", before: job.version, after: made.version },
        });
      }}
    />
  );
}
