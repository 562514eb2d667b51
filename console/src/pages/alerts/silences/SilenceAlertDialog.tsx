import { App } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putSilencesName } from "../../../api/generated/client";
import type { AlertView } from "../../../api/generated/models";
import { queries } from "../../../app/queries";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { ChoiceField, TextField } from "../../../parts/Fields";
import { markedTime } from "../../../parts/times";
import { useAlertName } from "../Marks";
import { DURATIONS, DURATIONS_MS, type Duration, timeOf } from "./silence-times";

/** Silences the alerts of one kind and job for a while. */
export function SilenceAlertDialog({ alert, onClose }: { alert: AlertView; onClose: () => void }) {
  const { t } = useTranslation("alertSettings");
  const { message } = App.useApp();
  const nameOf = useAlertName();
  const [duration, setDuration] = useState<Duration>("h1");
  const [comment, setComment] = useState("");
  const [name] = useState(() => `${alert.kind}-${crypto.randomUUID().slice(0, 8)}`);
  const endsAt = new Date(timeOf(alert, Date.now()) + DURATIONS_MS[duration]);
  const until = markedTime(endsAt);
  return (
    <ConfirmDialog
      title={t("silences.one", { name: nameOf(alert) })}
      verb={t("silences.verbOne")}
      effect={[
        alert.job === null ? t("silences.ofKind") : t("silences.ofJob", { job: alert.job }),
        t("silences.recorded", { until }),
        t("silences.after"),
        t("silences.resolved"),
      ]}
      onConfirm={async () => {
        await putSilencesName(name, {
          kinds: [alert.kind],
          job: alert.job,
          starts_at: alert.last_seen_at, // of the server's clock, so that the silence is in force at once
          ends_at: endsAt.toISOString(),
          comment: comment.trim(),
        });
        await queries.invalidateQueries({ queryKey: ["silences"] });
        message.info(t("silences.done", { until }));
      }}
      onClose={onClose}
    >
      <ChoiceField
        label={t("silences.duration")}
        value={duration}
        choices={DURATIONS}
        name={(choice) => t(`silences.durations.${choice}`)}
        onChange={setDuration}
      />
      <TextField
        label={t("silences.comment")}
        help={t("silences.commentHelp")}
        rows={2}
        value={comment}
        onChange={setComment}
      />
    </ConfirmDialog>
  );
}
