import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { once } from "../../../api/call";
import { deleteJob, postJobPause, postJobResume } from "../../../api/generated/client";
import { Confirm } from "../../../parts/Confirm";
import { dateTime } from "../../../parts/times";
import { useOneKey } from "../../../parts/useOneKey";
import { changed } from "../changed";
import type { Dialog } from "./Acts";

export function Pause({ job, onClose }: Dialog) {
  const { t } = useTranslation("jobs");
  const key = useOneKey();
  const effect = [t("pause.stops"), t("pause.runs")];
  if (job.next_fire_at) effect.unshift(t("pause.next", { at: dateTime(job.next_fire_at) }));
  const act = async () => changed(await postJobPause(job.name, once(key)));
  return (
    <Confirm
      title={t("pause.title", { name: job.name })}
      verb={t("act.pause")}
      effect={effect}
      act={act}
      onClose={onClose}
    />
  );
}

export function Resume({ job, onClose }: Dialog) {
  const { t } = useTranslation("jobs");
  const key = useOneKey();
  const effect = [t("resume.goes"), t("resume.passed")];
  const act = async () => changed(await postJobResume(job.name, once(key)));
  return (
    <Confirm
      title={t("resume.title", { name: job.name })}
      verb={t("act.resume")}
      effect={effect}
      act={act}
      onClose={onClose}
    />
  );
}

export function Remove({ job, onClose }: Dialog) {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const act = async () => {
    await deleteJob(job.name);
    await navigate({ to: "/jobs" });
    await changed(job);
  };
  return (
    <Confirm
      title={t("remove.title", { name: job.name })}
      verb={t("act.remove")}
      effect={[t("remove.fires"), t("remove.waiting"), t("remove.stays"), t("remove.back")]}
      danger
      act={act}
      onClose={onClose}
    />
  );
}
