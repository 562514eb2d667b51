import { Input, Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../../api/call";
import { postJobMove, postJobRestore, postJobSkip } from "../../../api/generated/client";
import type { ComingFire, JobView } from "../../../api/generated/models";
import { ActionButton } from "../../../parts/ActionButton";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { Field } from "../../../parts/Field";
import { dateTime, myZone, toLocalInput } from "../../../parts/times";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { invalidateJob } from "../invalidate-job";
import { SkipReason } from "../SkipReason";

/** Skips, moves or restores one fire. */
export function OccurrenceDialog({ job, fire, zone, onClose }: OccurrenceDialogProps) {
  const { t } = useTranslation("jobs");
  const key = useIdempotencyKey();
  const [error, setError] = useState<unknown>(null);
  const [to, setTo] = useState(() => toLocalInput(new Date(fire.due_at ?? fire.fire_time)));
  const at = fire.fire_time;
  const overridden = job.overrides?.some((one) => Date.parse(one.at) === Date.parse(at)) ?? false;
  const run = async (request: Promise<JobView>) => {
    setError(null);
    await request.then(invalidateJob).then(onClose, setError);
  };
  return (
    <Modal
      open
      title={t("occurrence.title", { at: dateTime(at, zone), zone })}
      onCancel={onClose}
      footer={null}
    >
      <p>{t("occurrence.effect")}</p>
      {fire.skipped && <SkipReason reason={fire.skipped} />}
      <Field label={t("occurrence.to", { zone: myZone() })}>
        {(id) => (
          <Input
            id={id}
            type="datetime-local"
            step={1}
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      {error !== null && <ErrorMessage error={error} />}
      <div className="buttons">
        <ActionButton
          action="jobs.occurrence"
          onClick={() =>
            run(
              postJobMove(
                job.name,
                { at, to: new Date(to).toISOString() },
                withIdempotencyKey(`${key}-move-${to}`),
              ),
            )
          }
        >
          {t("occurrence.move")}
        </ActionButton>
        {overridden ? (
          <ActionButton
            action="jobs.occurrence"
            onClick={() => run(postJobRestore(job.name, { at }, withIdempotencyKey(`${key}-restore`)))}
          >
            {t("occurrence.restore")}
          </ActionButton>
        ) : (
          <ActionButton
            action="jobs.occurrence"
            danger
            onClick={() => run(postJobSkip(job.name, { at }, withIdempotencyKey(`${key}-skip`)))}
          >
            {t("occurrence.skip")}
          </ActionButton>
        )}
      </div>
    </Modal>
  );
}

interface OccurrenceDialogProps {
  job: JobView;
  fire: ComingFire;
  zone: string;
  onClose: () => void;
}
