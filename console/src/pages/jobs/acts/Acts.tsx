import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import type { JobView } from "../../../api/generated/models";
import { Act } from "../../../parts/Act";

/** What every dialog of a job gets. */
export interface Dialog {
  job: JobView;
  onClose: () => void;
}

const DIALOGS = {
  trigger: lazy(async () => ({ default: (await import("./Trigger")).Trigger })),
  pause: lazy(async () => ({ default: (await import("./Standing")).Pause })),
  resume: lazy(async () => ({ default: (await import("./Standing")).Resume })),
  backfill: lazy(async () => ({ default: (await import("./Backfill")).Backfill })),
  test: lazy(async () => ({ default: (await import("./Test")).Test })),
  remove: lazy(async () => ({ default: (await import("./Standing")).Remove })),
};
type Name = keyof typeof DIALOGS;

/** All that may be done with a job; each opens a dialog that says what it does before it does it. */
export function Acts({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const [open, setOpen] = useState<Name | null>(null);
  const Shown = open && DIALOGS[open];
  const paused = job.status === "PAUSED";
  const alone = job.trigger.kind !== "keyed" && job.trigger.kind !== "rolling"; // those fire for keys and subjects only
  const past = job.trigger.kind === "cron" || job.trigger.kind === "interval";
  return (
    <>
      {alone && (
        <Act action="jobs.trigger" type="primary" onClick={() => setOpen("trigger")}>
          {t("act.trigger")}
        </Act>
      )}
      {paused ? (
        <Act action="jobs.resume" onClick={() => setOpen("resume")}>
          {t("act.resume")}
        </Act>
      ) : (
        <Act action="jobs.pause" onClick={() => setOpen("pause")}>
          {t("act.pause")}
        </Act>
      )}
      {past && (
        <Act action="jobs.backfill" onClick={() => setOpen("backfill")}>
          {t("act.backfill")}
        </Act>
      )}
      {job.target.kind === "http" && (
        <Act action="jobs.test" onClick={() => setOpen("test")}>
          {t("act.test")}
        </Act>
      )}
      <Act
        action="jobs.update"
        onClick={() => navigate({ to: "/jobs/$job/edit", params: { job: job.name } })}
      >
        {t("act.edit")}
      </Act>
      <Act action="jobs.remove" danger onClick={() => setOpen("remove")}>
        {t("act.remove")}
      </Act>
      {Shown && (
        <Suspense>
          <Shown job={job} onClose={() => setOpen(null)} />
        </Suspense>
      )}
    </>
  );
}
