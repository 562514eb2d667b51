import { Form, Input, InputNumber, Select } from "antd";
import { useTranslation } from "react-i18next";
import { Card } from "../../../parts/Page";
import { AUTH_KINDS, AUTHS } from "./access";
import type { Draft } from "./draft";

/** How a target is reached, how much at once, and on which days. */
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
          <Amount name="targetRate" />
          <Amount name="targetMost" />
        </>
      )}
      <Amount name="limitRate" />
      <Amount name="limitBurst" />
      <Amount name="limitMost" />
      <Lines name="quotas" />
      <Lines name="onlyOn" />
      <Lines name="neverOn" />
    </Card>
  );
}

/** A number that binds nothing where it is empty. */
function Amount({ name }: { name: "targetRate" | "targetMost" | "limitRate" | "limitBurst" | "limitMost" }) {
  const { t } = useTranslation("jobs");
  const whole = name.endsWith("Most");
  return (
    <Form.Item name={name} label={t(`access.${name}`)}>
      <InputNumber min={whole ? 1 : 0.001} max={1_000_000} precision={whole ? 0 : undefined} />
    </Form.Item>
  );
}

function Lines({ name }: { name: "quotas" | "onlyOn" | "neverOn" }) {
  const { t } = useTranslation("jobs");
  return (
    <Form.Item name={name} label={t(`access.${name}`)}>
      <Input.TextArea rows={2} className="code" />
    </Form.Item>
  );
}
