import { useQuery } from "@tanstack/react-query";
import { Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getAlertTestsTest, postAlertChannelsNameTest } from "../../../api/generated/client";
import type { ChannelTestView } from "../../../api/generated/models";
import { ActionButton } from "../../../parts/ActionButton";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { StateTag } from "../../../parts/StateTag";
import { Timestamp } from "../../../parts/Timestamp";

const REFRESH_MS = 1_000;

/** Sends a test message to a channel, and shows whether the channel accepted it. */
export function ChannelTestDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useTranslation("alertSettings");
  const [sent, setSent] = useState<ChannelTestView | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const query = useQuery({
    queryKey: ["alert-test", sent?.id],
    queryFn: ({ signal }) => getAlertTestsTest(sent?.id ?? "", { signal }),
    enabled: sent !== null,
    refetchInterval: (query) => ((query.state.data?.state ?? "PENDING") === "PENDING" ? REFRESH_MS : false),
  });
  const send = async () => {
    setBusy(true);
    setError(null);
    await postAlertChannelsNameTest(name)
      .then(setSent, setError)
      .finally(() => setBusy(false));
  };
  const result = query.data ?? sent;
  return (
    <Modal
      open
      title={t("test.title", { name })}
      onCancel={onClose}
      destroyOnHidden
      footer={
        <ActionButton action="alert_channels.test" type="primary" loading={busy} onClick={send}>
          {t("test.verb")}
        </ActionButton>
      }
    >
      <p>{t("test.effect")}</p>
      {error !== null && <ErrorMessage error={error} />}
      {query.error && <ErrorMessage error={query.error} />}
      <div aria-live="polite">{result && <TestResult result={result} />}</div>
    </Modal>
  );
}

function TestResult({ result }: { result: ChannelTestView }) {
  return (
    <>
      <p>
        <StateTag state={result.state} /> <ResultText result={result} />{" "}
        {result.sent_at && <Timestamp at={result.sent_at} />}
      </p>
      {result.error && <p className="toned tone-bad">{result.error}</p>}
    </>
  );
}

function ResultText({ result }: { result: ChannelTestView }) {
  const { t } = useTranslation("alertSettings");
  const count = result.attempts;
  if (result.state === "SENT") return <>{count > 1 ? t("test.sent", { count }) : t("test.sentOnce")}</>;
  if (result.state === "FAILED") return <>{t("test.failed")}</>;
  return <>{count > 0 ? t("test.retried", { count }) : t("test.waiting")}</>;
}
