import { Form, Input, InputNumber } from "antd";
import { useTranslation } from "react-i18next";
import { Card } from "../../../parts/Page";

const LONGEST_DESCRIPTION = 2_000;
const LONGEST_OWNER = 128;

/** What a job is for, who is responsible for it, and when its alerts fire. */
export function PeopleFields() {
  const { t } = useTranslation("jobs");
  return (
    <Card title={t("people.title")}>
      <Form.Item name="description" label={t("people.description")}>
        <Input.TextArea rows={2} maxLength={LONGEST_DESCRIPTION} />
      </Form.Item>
      <Form.Item name="owner" label={t("people.owner")} extra={t("people.ownerHelp")}>
        <Input maxLength={LONGEST_OWNER} />
      </Form.Item>
      <Form.Item
        name="runbook"
        label={t("people.runbook")}
        extra={t("people.runbookHelp")}
        rules={[{ pattern: /^https:\/\/\S+$/, message: t("people.needHttps") }]}
      >
        <Input />
      </Form.Item>
      <Form.Item name="contacts" label={t("people.contacts")} extra={t("people.contactsHelp")}>
        <Input.TextArea rows={2} className="code" />
      </Form.Item>
      <Form.Item name="lateAfter" label={t("people.late")} extra={t("people.lateHelp")}>
        <InputNumber min={1} max={366 * 86_400} precision={0} />
      </Form.Item>
      <Form.Item name="failAfter" label={t("people.failing")} extra={t("people.failingHelp")}>
        <InputNumber min={1} max={1_000} precision={0} />
      </Form.Item>
    </Card>
  );
}
