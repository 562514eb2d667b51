import { Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postJobTest } from "../../../api/generated/client";
import type { JobTestResult, JsonValue } from "../../../api/generated/models";
import { writeJson } from "../../../api/json";
import { ActionButton } from "../../../parts/ActionButton";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { duration } from "../../../parts/times";
import { TargetText } from "../Texts";
import type { JobDialogProps } from "./Actions";
import { PayloadField } from "./PayloadField";
import { parsePayload } from "./parse-payload";
import "../jobs.css";

/** Sends one real request, marked as a test, to the target, and shows request and response. */
export function TestDialog({ job, onClose }: JobDialogProps) {
  const { t } = useTranslation(["jobs", "frame"]);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [result, setResult] = useState<JobTestResult | null>(null);
  const { value, error: parseError } = parsePayload(text);
  const send = async () => {
    setBusy(true);
    setError(null);
    await postJobTest(job.name, value === undefined ? {} : { payload: value as JsonValue })
      .then(setResult, setError)
      .finally(() => setBusy(false));
  };
  return (
    <Modal
      open
      width={720}
      title={t("test.title", { name: job.name })}
      onCancel={onClose}
      footer={
        <ActionButton
          action="jobs.test"
          type="primary"
          loading={busy}
          disabled={parseError !== null}
          onClick={send}
        >
          {t("action.test")}
        </ActionButton>
      }
    >
      <p>
        {t("test.effect")} <TargetText target={job.target} />
      </p>
      <PayloadField text={text} error={parseError} onChange={setText} />
      {error !== null && <ErrorMessage error={error} />}
      {result && <TestResult result={result} />}
    </Modal>
  );
}

/** A response 202, and one that declines the work, are not failures. */
const GOOD_OUTCOMES = new Set(["success", "accepted", "declined"]);

function TestResult({ result }: { result: JobTestResult }) {
  const { t } = useTranslation("jobs");
  return (
    <dl className="facts" aria-live="polite">
      <dt>{t("test.outcome")}</dt>
      <dd>
        <span className={`state tone-${GOOD_OUTCOMES.has(result.outcome) ? "good" : "bad"}`}>
          {result.outcome}
        </span>{" "}
        {result.status ?? ""} {duration(result.duration_ms)}
      </dd>
      <dt>{t("test.detail")}</dt>
      <dd>
        <code>{writeJson(result.detail)}</code>
      </dd>
      <dt>{t("test.headers")}</dt>
      <dd>
        <pre className="payload">
          {Object.entries(result.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
        </pre>
      </dd>
      <dt>{t("test.sent")}</dt>
      <dd>
        <pre className="payload">{result.sent ?? "–"}</pre>
      </dd>
      <dt>{t("test.answer")}</dt>
      <dd>
        <pre className="payload">{result.answer ?? "–"}</pre>
      </dd>
    </dl>
  );
}
