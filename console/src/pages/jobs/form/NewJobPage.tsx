import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { postJobs } from "../../../api/generated/client";
import { Page } from "../../../parts/Page";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { invalidateJob } from "../invalidate-job";
import { EMPTY, specOf } from "./draft";
import { JobForm } from "./JobForm";
import "../jobs.css";

/** Creates a job. The form has one idempotency key: two clicks create one job. */
export function NewJobPage() {
  const { t } = useTranslation("jobs");
  const key = useIdempotencyKey();
  const navigate = useNavigate();
  return (
    <Page title={t("create.title")}>
      <JobForm
        initial={EMPTY}
        action="jobs.create"
        texts="create"
        onSubmit={async (draft) => {
          const saved = await postJobs(specOf(draft), withIdempotencyKey(key));
          await invalidateJob(saved);
          await navigate({ to: "/jobs/$job", params: { job: saved.name } });
        }}
      />
    </Page>
  );
}
