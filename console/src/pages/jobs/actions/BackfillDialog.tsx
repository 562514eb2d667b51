import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { postJobBackfill } from "../../../api/generated/client";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { BackfillFields } from "../../backfills/BackfillFields";
import { DryRun } from "../../backfills/DryRun";
import { newDraft, requestOf } from "../../backfills/draft";
import { invalidateJob } from "../invalidate-job";
import type { JobDialogProps } from "./Actions";

/** Starts a backfill of a time range; its dry run follows the form. Above the cap it is refused before anything runs. */
export function BackfillDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation(["jobs", "backfills"]);
  const key = useIdempotencyKey();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(() => newDraft(Date.now()));
  const request = requestOf(draft);
  return (
    <ConfirmDialog
      title={t("backfill.title", { name: job.name })}
      verb={t("action.backfill")}
      effect={[
        t("backfill.effect"),
        t("backfill.behind"),
        draft.mode === "all"
          ? t("backfill.rerunEffect")
          : draft.mode === "unsuccessful"
            ? t("backfill.onceEffect")
            : t(`backfills:modeEffect.${draft.mode}`),
      ]}
      onConfirm={async () => {
        if (!request) throw new Error(t("backfills:plan.noRange"));
        await postJobBackfill(job.name, request, withIdempotencyKey(key));
        await invalidateJob(job);
        await navigate({ to: "/jobs/$job", params: { job: job.name }, search: { view: "backfills" } });
      }}
      onClose={onClose}
    >
      <BackfillFields draft={draft} onChange={setDraft} />
      <DryRun job={job.name} request={request} />
    </ConfirmDialog>
  );
}
