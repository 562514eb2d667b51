import { useNavigate } from "@tanstack/react-router";
import { Checkbox, Input, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { postJobBackfill } from "../../../api/generated/client";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { Field } from "../../../parts/Field";
import { myZone, toLocalInput } from "../../../parts/times";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { invalidateJob } from "../invalidate-job";
import type { JobDialogProps } from "./Actions";

const DAY_MS = 86_400_000;
const DEFAULT_CAP = 10_000;

/** Starts a backfill of a time range. A range with more fires than the cap is refused before anything runs. */
export function BackfillDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation("jobs");
  const key = useIdempotencyKey();
  const navigate = useNavigate();
  const [since, setSince] = useState(() => toLocalInput(new Date(Date.now() - DAY_MS)));
  const [until, setUntil] = useState(() => toLocalInput(new Date()));
  const [cap, setCap] = useState(DEFAULT_CAP);
  const [rerun, setRerun] = useState(false);
  const onConfirm = async () => {
    const range = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    await postJobBackfill(job.name, { ...range, cap, rerun }, withIdempotencyKey(key));
    await invalidateJob(job);
    await navigate({ to: "/jobs/$job", params: { job: job.name }, search: { view: "backfills" } });
  };
  return (
    <ConfirmDialog
      title={t("backfill.title", { name: job.name })}
      verb={t("action.backfill")}
      effect={[
        t("backfill.effect"),
        t("backfill.behind"),
        t(rerun ? "backfill.rerunEffect" : "backfill.onceEffect"),
      ]}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Field label={t("backfill.since", { zone: myZone() })}>
        {(id) => (
          <Input
            id={id}
            type="datetime-local"
            step={1}
            value={since}
            onChange={(event) => setSince(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("backfill.until", { zone: myZone() })}>
        {(id) => (
          <Input
            id={id}
            type="datetime-local"
            step={1}
            value={until}
            onChange={(event) => setUntil(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("backfill.cap")}>
        {(id) => (
          <InputNumber
            id={id}
            min={1}
            max={1_000_000}
            value={cap}
            onChange={(value) => setCap(value ?? DEFAULT_CAP)}
          />
        )}
      </Field>
      <Checkbox checked={rerun} onChange={(event) => setRerun(event.target.checked)}>
        {t("backfill.rerun")}
      </Checkbox>
    </ConfirmDialog>
  );
}
