import { Input } from "antd";
import { useTranslation } from "react-i18next";
import { Field } from "../../parts/Field";
import { ChoiceField, NumberField, OptionalNumberField } from "../../parts/Fields";
import { myZone } from "../../parts/times";
import { type BackfillDraft, MODES, ORDERS } from "./draft";

interface BackfillFieldsProps {
  draft: BackfillDraft;
  onChange: (draft: BackfillDraft) => void;
}

/** The fields of a backfill: range, mode, order, rate and cap. */
export function BackfillFields({ draft, onChange }: BackfillFieldsProps) {
  const { t } = useTranslation(["backfills", "jobs"]);
  const change = (part: Partial<BackfillDraft>) => onChange({ ...draft, ...part });
  return (
    <>
      {(["since", "until"] as const).map((end) => (
        <Field key={end} label={t(`jobs:backfill.${end}`, { zone: myZone() })}>
          {(id) => (
            <Input
              id={id}
              type="datetime-local"
              step={1}
              value={draft[end]}
              onChange={(event) => change({ [end]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <ChoiceField
        label={t("mode.label")}
        value={draft.mode}
        choices={MODES}
        name={(mode) => t(`mode.${mode}`)}
        onChange={(mode) => change({ mode })}
      />
      <ChoiceField
        label={t("order.label")}
        value={draft.order}
        choices={ORDERS}
        name={(order) => t(`order.${order}`)}
        onChange={(order) => change({ order })}
      />
      <OptionalNumberField
        label={t("rate.label")}
        value={draft.rate}
        min={0.01}
        max={10_000}
        placeholder={t("rate.none")}
        onChange={(rate) => change({ rate })}
      />
      <NumberField
        label={t("jobs:backfill.cap")}
        value={draft.cap}
        min={1}
        max={1_000_000}
        onChange={(cap) => change({ cap })}
      />
    </>
  );
}
