import { Form, Input, InputNumber, Select } from "antd";
import { useTranslation } from "react-i18next";
import { Card } from "../../../parts/Page";
import { AUTH_KINDS, AUTHS } from "./access";
import type { Draft } from "./draft";

/** The fields for access, limits and calendars. */
export function AccessFields({ draft }: { draft: Draft }) {
  const { t } = useTranslation("jobs");
  const none = { value: "", label: t("access.none") };
  return (
    <Card title={t("access.title")}>
      {draft.target === "http" && (
        <>
          <Form.Item name="auth" label={t("access.auth")}>
            <Select
              options={[none, ...AUTH_KINDS.map((kind) => ({ value: kind, label: t(`auth.${kind}`) }))]}
            />
          </Form.Item>
          {draft.auth &&
            AUTHS[draft.auth].map((name) => (
              <Form.Item key={name} name={["authFacts", name]} label={t(`authFact.${name}`)}>
                <Input autoComplete="off" />
              </Form.Item>
            ))}
          <Form.Item name="signing" label={t("access.signing")} extra={t("access.secretHelp")}>
            <Input autoComplete="off" />
          </Form.Item>
        </>
      )}
      {draft.target !== "queue" && (
        <>
          <OptionalNumberField name="targetRate" />
          <OptionalNumberField name="targetMost" />
        </>
      )}
      <OptionalNumberField name="limitRate" />
      <OptionalNumberField name="limitBurst" />
      <OptionalNumberField name="limitMost" />
      <LinesField name="quotas" />
      <LinesField name="onlyOn" />
      <LinesField name="neverOn" />
    </Card>
  );
}

/** A number; empty means no limit. */
function OptionalNumberField({
  name,
}: {
  name: "targetRate" | "targetMost" | "limitRate" | "limitBurst" | "limitMost";
}) {
  const { t } = useTranslation("jobs");
  const whole = name.endsWith("Most");
  return (
    <Form.Item name={name} label={t(`access.${name}`)}>
      <InputNumber min={whole ? 1 : 0.001} max={1_000_000} precision={whole ? 0 : undefined} />
    </Form.Item>
  );
}

function LinesField({ name }: { name: "quotas" | "onlyOn" | "neverOn" }) {
  const { t } = useTranslation("jobs");
  return (
    <Form.Item name={name} label={t(`access.${name}`)}>
      <Input.TextArea rows={2} className="code" />
    </Form.Item>
  );
}
