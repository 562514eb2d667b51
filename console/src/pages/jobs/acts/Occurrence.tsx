import { Input, Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../../api/call";
import { postJobMove, postJobRestore, postJobSkip } from "../../../api/generated/client";
import type { ComingFire, JobView } from "../../../api/generated/models";
import { Act } from "../../../parts/Act";
import { Field } from "../../../parts/Field";
import { Trouble } from "../../../parts/Trouble";
import { dateTime, myZone } from "../../../parts/times";
import { useOneKey } from "../../../parts/useOneKey";
import { changed } from "../changed";
import { local } from "../local";
import { Skipped } from "../Skipped";

/** One coming fire: leave it out, move it, or let it happen as the schedule has it. */
export function Occurrence({ job, fire, zone, onClose }: OccurrenceProps) {
  const { t } = useTranslation("jobs");
  const key = useOneKey();
  const [error, setError] = useState<unknown>(null);
  const [to, setTo] = useState(() => local(new Date(fire.due_at ?? fire.fire_time)));
  const at = fire.fire_time;
  const odd = job.overrides?.some((one) => Date.parse(one.at) === Date.parse(at)) ?? false;
  const act = async (work: Promise<JobView>) => {
    setError(null);
    await work.then(changed).then(onClose, setError);
  };
  return (
    <Modal
      open
      title={t("occurrence.title", { at: dateTime(at, zone), zone })}
      onCancel={onClose}
      footer={null}
    >
      <p>{t("occurrence.effect")}</p>
      {fire.skipped && <Skipped reason={fire.skipped} />}
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
      {error !== null && <Trouble error={error} />}
      <div className="buttons">
        <Act
          action="jobs.occurrence"
          onClick={() =>
            act(postJobMove(job.name, { at, to: new Date(to).toISOString() }, once(`${key}-move-${to}`)))
          }
        >
          {t("occurrence.move")}
        </Act>
        {odd ? (
          <Act
            action="jobs.occurrence"
            onClick={() => act(postJobRestore(job.name, { at }, once(`${key}-restore`)))}
          >
            {t("occurrence.restore")}
          </Act>
        ) : (
          <Act
            action="jobs.occurrence"
            danger
            onClick={() => act(postJobSkip(job.name, { at }, once(`${key}-skip`)))}
          >
            {t("occurrence.skip")}
          </Act>
        )}
      </div>
    </Modal>
  );
}

interface OccurrenceProps {
  job: JobView;
  fire: ComingFire;
  zone: string;
  onClose: () => void;
}
