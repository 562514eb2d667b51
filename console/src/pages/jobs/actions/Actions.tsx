import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JobView } from "../../../api/generated/models";
import { ActionButton } from "../../../parts/ActionButton";

/** The props of every dialog of a job. */
export interface JobDialogProps {
  job: JobView;
  onClose: () => void;
}

const DIALOGS = {
  trigger: lazy(async () => ({ default: (await import("./TriggerDialog")).TriggerDialog })),
  pause: lazy(async () => ({ default: (await import("./LifecycleDialogs")).PauseDialog })),
  resume: lazy(async () => ({ default: (await import("./LifecycleDialogs")).ResumeDialog })),
  backfill: lazy(async () => ({ default: (await import("./BackfillDialog")).BackfillDialog })),
  test: lazy(async () => ({ default: (await import("./TestDialog")).TestDialog })),
  remove: lazy(async () => ({ default: (await import("./LifecycleDialogs")).RemoveDialog })),
};
type DialogName = keyof typeof DIALOGS;

/** The actions of a job. Each opens a dialog that lists its effects first. */
export function Actions({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const [open, setOpen] = useState<DialogName | null>(null);
  const OpenDialog = open && DIALOGS[open];
  const paused = job.status === "PAUSED";
  const triggerable = job.trigger.kind !== "keyed" && job.trigger.kind !== "rolling"; // they fire for keys and subjects only
  const backfillable = job.trigger.kind === "cron" || job.trigger.kind === "interval";
  return (
    <>
      {triggerable && (
        <ActionButton action="jobs.trigger" type="primary" onClick={() => setOpen("trigger")}>
          {t("action.trigger")}
        </ActionButton>
      )}
      {paused ? (
        <ActionButton action="jobs.resume" onClick={() => setOpen("resume")}>
          {t("action.resume")}
        </ActionButton>
      ) : (
        <ActionButton action="jobs.pause" onClick={() => setOpen("pause")}>
          {t("action.pause")}
        </ActionButton>
      )}
      {backfillable && (
        <ActionButton action="jobs.backfill" onClick={() => setOpen("backfill")}>
          {t("action.backfill")}
        </ActionButton>
      )}
      {job.target.kind === "http" && (
        <ActionButton action="jobs.test" onClick={() => setOpen("test")}>
          {t("action.test")}
        </ActionButton>
      )}
      {!job.steps && (
        <ActionButton
          action="jobs.update"
          onClick={() => navigate({ to: "/jobs/$job/edit", params: { job: job.name } })}
        >
          {t("action.edit")}
        </ActionButton>
      )}
      <ActionButton action="jobs.remove" danger onClick={() => setOpen("remove")}>
        {t("action.remove")}
      </ActionButton>
      {OpenDialog && (
        <Suspense>
          <OpenDialog job={job} onClose={() => setOpen(null)} />
        </Suspense>
      )}
    </>
  );
}
