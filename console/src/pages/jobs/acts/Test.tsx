import { Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postJobTest } from "../../../api/generated/client";
import type { JsonValue, TrialView } from "../../../api/generated/models";
import { writeJson } from "../../../api/json";
import { Act } from "../../../parts/Act";
import { Trouble } from "../../../parts/Trouble";
import { duration } from "../../../parts/times";
import { TargetText } from "../Texts";
import type { Dialog } from "./Acts";
import { json } from "./json";
import { PayloadField } from "./PayloadField";

/** Really call the target once, marked as a test, and show what was sent and what came back. */
export function Test({ job, onClose }: Dialog) {
  const { t } = useTranslation(["jobs", "frame"]);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [tried, setTried] = useState<TrialView | null>(null);
  const { value, wrong } = json(text);
  const send = async () => {
    setBusy(true);
    setError(null);
    await postJobTest(job.name, value === undefined ? {} : { payload: value as JsonValue })
      .then(setTried, setError)
      .finally(() => setBusy(false));
  };
  return (
    <Modal
      open
      width={720}
      title={t("test.title", { name: job.name })}
      onCancel={onClose}
      footer={
        <Act action="jobs.test" type="primary" loading={busy} disabled={wrong !== null} onClick={send}>
          {t("act.test")}
        </Act>
      }
    >
      <p>
        {t("test.effect")} <TargetText target={job.target} />
      </p>
      <PayloadField text={text} wrong={wrong} tell={setText} />
      {error !== null && <Trouble error={error} />}
      {tried && <Answer tried={tried} />}
    </Modal>
  );
}

/** An answer 202, and one that says that nothing is to be done, are no failures. */
const WELL = new Set(["success", "accepted", "declined"]);

function Answer({ tried }: { tried: TrialView }) {
  const { t } = useTranslation("jobs");
  return (
    <dl className="facts" aria-live="polite">
      <dt>{t("test.outcome")}</dt>
      <dd>
        <span className={`state tone-${WELL.has(tried.outcome) ? "good" : "bad"}`}>{tried.outcome}</span>{" "}
        {tried.status ?? ""} {duration(tried.duration_ms)}
      </dd>
      <dt>{t("test.detail")}</dt>
      <dd>
        <code>{writeJson(tried.detail)}</code>
      </dd>
      <dt>{t("test.headers")}</dt>
      <dd>
        <pre className="payload">
          {Object.entries(tried.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
        </pre>
      </dd>
      <dt>{t("test.sent")}</dt>
      <dd>
        <pre className="payload">{tried.sent ?? "–"}</pre>
      </dd>
      <dt>{t("test.answer")}</dt>
      <dd>
        <pre className="payload">{tried.answer ?? "–"}</pre>
      </dd>
    </dl>
  );
}
