import { Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putSilencesName } from "../../../api/generated/client";
import type { SilenceView } from "../../../api/generated/models";
import { queries } from "../../../app/queries";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { DateTimeInput } from "../../../parts/DateTimeInput";
import { Field } from "../../../parts/Field";
import { TextField } from "../../../parts/Fields";
import { markedTime } from "../../../parts/times";
import { KINDS } from "../kinds";
import { SelectorFields } from "../SelectorFields";
import { type Draft, draftOf, emptyDraft, silenceOf } from "./draft";

/** Creates a silence, or changes an existing one. */
export function SilenceDialog({ base, onClose }: { base?: SilenceView; onClose: () => void }) {
  const { t } = useTranslation("alertSettings");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOf(base) : emptyDraft(Date.now())));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <ConfirmDialog
      title={base ? t("silences.change", { name: base.name }) : t("silences.open")}
      verb={t("silences.verb")}
      effect={[
        t("silences.recorded", { until: markedTime(draft.ends_at) }),
        t("silences.after"),
        t("silences.resolved"),
      ]}
      onConfirm={async () => {
        await putSilencesName(draft.name, silenceOf(draft));
        await queries.invalidateQueries({ queryKey: ["silences"] });
      }}
      onClose={onClose}
    >
      {!base && <TextField label={t("name")} value={draft.name} onChange={(name) => change({ name })} />}
      <TimeField
        label={t("silences.starts")}
        value={draft.starts_at}
        onChange={(starts_at) => change({ starts_at })}
      />
      <TimeField
        label={t("silences.ends")}
        value={draft.ends_at}
        onChange={(ends_at) => change({ ends_at })}
      />
      <KindsField kinds={draft.kinds} onChange={(kinds) => change({ kinds })} />
      <SelectorFields draft={draft} change={change} />
      <TextField
        label={t("silences.comment")}
        help={t("silences.commentHelp")}
        rows={2}
        value={draft.comment}
        onChange={(comment) => change({ comment })}
      />
    </ConfirmDialog>
  );
}

/** A time that cannot be empty: an incomplete one keeps the value before it. */
function TimeField({ label, value, onChange }: TimeFieldProps) {
  return (
    <Field label={label}>
      {(id) => <DateTimeInput id={id} label={label} value={value} onChange={(at) => at && onChange(at)} />}
    </Field>
  );
}

interface TimeFieldProps {
  label: string;
  value: string;
  onChange: (at: string) => void;
}

function KindsField({
  kinds,
  onChange,
}: {
  kinds: Draft["kinds"];
  onChange: (kinds: Draft["kinds"]) => void;
}) {
  const { t } = useTranslation(["alertSettings", "alerts"]);
  return (
    <Field label={t("silences.kinds")} help={t("silences.kindsHelp")}>
      {(id) => (
        <Select
          id={id}
          mode="multiple"
          className="full"
          optionFilterProp="label"
          value={kinds}
          options={KINDS.map((value) => ({ value, label: t(`alerts:kinds.${value}`) }))}
          onChange={onChange}
        />
      )}
    </Field>
  );
}
