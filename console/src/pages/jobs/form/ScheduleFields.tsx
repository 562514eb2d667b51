import { Form, Input, InputNumber, Select } from "antd";
import { useTranslation } from "react-i18next";
import { Card } from "../../../parts/Page";
import { myZone } from "../../../parts/times";
import { type Draft, KINDS } from "./draft";

const DIALECTS = ["unix5", "spring6", "quartz6", "quartz7"] as const;
const ZONES = Intl.supportedValuesOf("timeZone");

/** The fields for the name and the trigger. */
export function ScheduleFields({ draft, named }: { draft: Draft; named: boolean }) {
  const { t } = useTranslation("jobs");
  return (
    <Card title={t("form.schedule")}>
      <Form.Item name="name" label={t("list.name")} rules={[{ required: true, message: t("form.needName") }]}>
        <Input maxLength={120} disabled={named} autoFocus={!named} autoComplete="off" />
      </Form.Item>
      <Form.Item name="kind" label={t("form.kind")}>
        <Select options={KINDS.map((kind) => ({ value: kind, label: t(`kind.${kind}`) }))} />
      </Form.Item>
      {draft.kind === "cron" && <CronFields draft={draft} />}
      {draft.kind === "interval" && (
        <Form.Item name="every" label={t("form.every")}>
          <InputNumber min={1} max={31_622_400} />
        </Form.Item>
      )}
      {draft.kind === "rolling" && <RollingFields />}
      {draft.kind === "once" && (
        <Form.Item
          name="at"
          label={t("form.at", { zone: myZone() })}
          rules={[{ required: true, message: t("form.needAt") }]}
        >
          <Input type="datetime-local" step={1} />
        </Form.Item>
      )}
      {draft.kind === "delay" && (
        <Form.Item name="seconds" label={t("form.seconds")}>
          <InputNumber min={0} max={31_622_400} />
        </Form.Item>
      )}
    </Card>
  );
}

function RollingFields() {
  const { t } = useTranslation("jobs");
  return (
    <>
      <Form.Item name="window" label={t("form.window")} extra={t("form.windowHelp")}>
        <InputNumber min={1} max={31_622_400} />
      </Form.Item>
      <Form.Item name="every" label={t("form.tick")}>
        <InputNumber min={1} max={31_622_400} />
      </Form.Item>
      <Form.Item name="budget" label={t("form.budget")} extra={t("form.budgetHelp")}>
        <InputNumber min={1} max={31_622_400} />
      </Form.Item>
      <Form.Item name="share" label={t("form.share")}>
        <InputNumber min={0.001} max={1} step={0.001} />
      </Form.Item>
    </>
  );
}

function CronFields({ draft }: { draft: Draft }) {
  const { t } = useTranslation("jobs");
  const auto = { value: "", label: t("form.dialectAuto") };
  const own = { value: "", label: t("form.zoneOwn") };
  return (
    <>
      <Form.Item
        name="expression"
        label={t("form.expression")}
        extra={t("form.expressionHelp")}
        rules={[{ required: true, message: t("form.needExpression") }]}
      >
        <Input className="code" autoComplete="off" spellCheck={false} />
      </Form.Item>
      <Form.Item
        name="dialect"
        label={t("form.dialect")}
        extra={draft.dialect ? t(`dialect.${draft.dialect}`) : t("form.dialectHelp")}
      >
        <Select options={[auto, ...DIALECTS.map((one) => ({ value: one, label: one }))]} />
      </Form.Item>
      <Form.Item name="zone" label={t("form.zone")}>
        <Select showSearch options={[own, ...ZONES.map((zone) => ({ value: zone, label: zone }))]} />
      </Form.Item>
      <Form.Item name="dstGap" label={t("form.dstGap")}>
        <Select
          options={(["fire_after", "skip"] as const).map((one) => ({
            value: one,
            label: t(`dstGap.${one}`),
          }))}
        />
      </Form.Item>
      <Form.Item name="dstOverlap" label={t("form.dstOverlap")}>
        <Select
          options={(["first", "second", "both"] as const).map((one) => ({
            value: one,
            label: t(`dstOverlap.${one}`),
          }))}
        />
      </Form.Item>
    </>
  );
}
