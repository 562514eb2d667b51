import { Form, Input, Select } from "antd";
import { useTranslation } from "react-i18next";
import { readJson } from "../../../api/json";
import { Card } from "../../../parts/Page";
import type { Draft } from "./draft";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The fields of the target: a URL, a queue for workers, or a topic of a broker. */
export function TargetFields({ draft }: { draft: Draft }) {
  const { t } = useTranslation("jobs");
  return (
    <Card title={t("list.target")}>
      <Form.Item name="target" label={t("form.target")}>
        <Select
          options={(["http", "queue", "topic"] as const).map((one) => ({
            value: one,
            label: t(`target.${one}`),
          }))}
        />
      </Form.Item>
      {draft.target === "http" && (
        <>
          <Form.Item
            name="url"
            label={t("form.url")}
            rules={[{ required: true, message: t("form.needUrl") }]}
          >
            <Input placeholder="https://example.com/hooks/coupons" autoComplete="off" />
          </Form.Item>
          <Form.Item name="method" label={t("form.method")}>
            <Select options={METHODS.map((method) => ({ value: method, label: method }))} />
          </Form.Item>
          <Form.Item name="headers" label={t("form.headers")} extra={t("form.headersHelp")}>
            <Input.TextArea rows={2} className="code" />
          </Form.Item>
        </>
      )}
      {draft.target === "queue" && (
        <Form.Item name="queue" label={t("form.queue")} extra={t("form.queueHelp")}>
          <Input maxLength={120} autoComplete="off" />
        </Form.Item>
      )}
      {draft.target === "topic" && (
        <>
          <Form.Item name="broker" label={t("form.broker")} extra={t("form.brokerHelp")}>
            <Input maxLength={120} autoComplete="off" />
          </Form.Item>
          <Form.Item name="topic" label={t("form.topic")}>
            <Input maxLength={200} autoComplete="off" />
          </Form.Item>
        </>
      )}
      <Form.Item
        name="payload"
        label={t("facts.payload")}
        rules={[{ validator: validateJson(t("form.needJson")) }]}
      >
        <Input.TextArea rows={3} className="code" spellCheck={false} />
      </Form.Item>
    </Card>
  );
}

const validateJson = (message: string) => async (_: unknown, text?: string) => {
  if (!text?.trim()) return;
  try {
    readJson(text);
  } catch (error) {
    throw new Error(`${message} ${error instanceof Error ? error.message : ""}`);
  }
};
