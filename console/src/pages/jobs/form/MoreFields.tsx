import { Form, Input, InputNumber, Select } from "antd";
import { useTranslation } from "react-i18next";
import { Card } from "../../../parts/Page";

/** Labels and policies; each has a default. */
export function MoreFields() {
  const { t } = useTranslation("jobs");
  return (
    <Card title={t("form.more")}>
      <Form.Item name="labels" label={t("list.labels")} extra={t("form.labelsHelp")}>
        <Input.TextArea rows={2} className="code" />
      </Form.Item>
      <Form.Item name="priority" label={t("facts.priority")}>
        <Select
          options={(["critical", "normal", "low"] as const).map((one) => ({
            value: one,
            label: t(`priority.${one}`),
          }))}
        />
      </Form.Item>
      <Form.Item name="overlap" label={t("facts.overlap")}>
        <Select
          options={(["allow", "forbid", "replace", "queue_one"] as const).map((one) => ({
            value: one,
            label: t(`overlap.${one}`),
          }))}
        />
      </Form.Item>
      <Form.Item name="misfire" label={t("facts.misfire")}>
        <Select
          options={(["once", "skip", "all"] as const).map((one) => ({
            value: one,
            label: t(`misfire.${one}`),
          }))}
        />
      </Form.Item>
      <Form.Item name="failures" label={t("form.failures")}>
        <InputNumber min={1} max={1000} />
      </Form.Item>
      <Form.Item name="expires" label={t("form.expires")} extra={t("form.expiresHelp")}>
        <InputNumber min={1} max={366 * 86_400} />
      </Form.Item>
    </Card>
  );
}
