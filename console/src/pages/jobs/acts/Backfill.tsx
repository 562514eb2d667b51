import { useNavigate } from "@tanstack/react-router";
import { Checkbox, Input, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../../api/call";
import { postJobBackfill } from "../../../api/generated/client";
import { Confirm } from "../../../parts/Confirm";
import { Field } from "../../../parts/Field";
import { myZone } from "../../../parts/times";
import { useOneKey } from "../../../parts/useOneKey";
import { changed } from "../changed";
import { local } from "../local";
import type { Dialog } from "./Acts";

const DAY = 86_400_000;
const CAP = 10_000;

/** Past fires of a range; more than the cap are refused before anything runs. */
export function Backfill({ job, onClose }: Dialog) {
  const { t } = useTranslation("jobs");
  const key = useOneKey();
  const navigate = useNavigate();
  const [since, setSince] = useState(() => local(new Date(Date.now() - DAY)));
  const [until, setUntil] = useState(() => local(new Date()));
  const [cap, setCap] = useState(CAP);
  const [rerun, setRerun] = useState(false);
  const act = async () => {
    const range = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    await postJobBackfill(job.name, { ...range, cap, rerun }, once(key));
    await changed(job);
    await navigate({ to: "/jobs/$job", params: { job: job.name }, search: { view: "backfills" } });
  };
  return (
    <Confirm
      title={t("backfill.title", { name: job.name })}
      verb={t("act.backfill")}
      effect={[
        t("backfill.effect"),
        t("backfill.behind"),
        t(rerun ? "backfill.rerunEffect" : "backfill.onceEffect"),
      ]}
      act={act}
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
            onChange={(value) => setCap(value ?? CAP)}
          />
        )}
      </Field>
      <Checkbox checked={rerun} onChange={(event) => setRerun(event.target.checked)}>
        {t("backfill.rerun")}
      </Checkbox>
    </Confirm>
  );
}
