import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { once } from "../../../api/call";
import { postJobs } from "../../../api/generated/client";
import { Page } from "../../../parts/Page";
import { useOneKey } from "../../../parts/useOneKey";
import { changed } from "../changed";
import { EMPTY, specOf } from "./draft";
import { JobForm } from "./JobForm";
import "../jobs.css";

/** A new job. One Idempotency-Key for the whole form: pressed twice, it is made once. */
export function NewJobPage() {
  const { t } = useTranslation("jobs");
  const key = useOneKey();
  const navigate = useNavigate();
  return (
    <Page title={t("create.title")}>
      <JobForm
        start={EMPTY}
        action="jobs.create"
        word="create"
        send={async (draft) => {
          const made = await postJobs(specOf(draft), once(key));
          await changed(made);
          await navigate({ to: "/jobs/$job", params: { job: made.name } });
        }}
      />
    </Page>
  );
}
