import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { deleteJob, postJobPause, postJobResume } from "../../../api/generated/client";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { markedTime } from "../../../parts/times";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { invalidateJob } from "../invalidate-job";
import type { JobDialogProps } from "./Actions";

export function PauseDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation("jobs");
  const key = useIdempotencyKey();
  const effect = [t("pause.stops"), t("pause.runs")];
  if (job.next_fire_at) effect.unshift(t("pause.next", { at: markedTime(job.next_fire_at) }));
  const onConfirm = async () => invalidateJob(await postJobPause(job.name, withIdempotencyKey(key)));
  return (
    <ConfirmDialog
      title={t("pause.title", { name: job.name })}
      verb={t("action.pause")}
      effect={effect}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}

export function ResumeDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation("jobs");
  const key = useIdempotencyKey();
  const effect = [t("resume.goes"), t("resume.passed")];
  const onConfirm = async () => invalidateJob(await postJobResume(job.name, withIdempotencyKey(key)));
  return (
    <ConfirmDialog
      title={t("resume.title", { name: job.name })}
      verb={t("action.resume")}
      effect={effect}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}

export function RemoveDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const onConfirm = async () => {
    await deleteJob(job.name);
    await navigate({ to: "/jobs" });
    await invalidateJob(job);
  };
  return (
    <ConfirmDialog
      title={t("remove.title", { name: job.name })}
      verb={t("action.remove")}
      effect={[t("remove.fires"), t("remove.waiting"), t("remove.stays"), t("remove.back")]}
      danger
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}
