import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putAlertRulesName } from "../../../api/generated/client";
import type { AlertRuleView } from "../../../api/generated/models";
import { queries } from "../../../app/queries";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { TextField } from "../../../parts/Fields";
import { FACTS } from "../kinds";
import { isEmptySelector } from "../SelectorFields";
import { type Draft, draftOf, EMPTY, ruleOf } from "./draft";
import { RuleFields } from "./RuleFields";

/** Creates an alert rule, or changes an existing one. */
export function RuleDialog({ base, onClose }: { base?: AlertRuleView; onClose: () => void }) {
  const { t } = useTranslation("alertSettings");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOf(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const forAll = !FACTS[draft.kind].perJob || isEmptySelector(draft);
  return (
    <ConfirmDialog
      title={base ? t("rules.change", { name: base.name }) : t("rules.open")}
      verb={t("rules.verb")}
      effect={[
        draft.enabled ? t("rules.now") : t("rules.off"),
        forAll ? t("rules.replaces") : t("rules.beside"),
      ]}
      onConfirm={async () => {
        await putAlertRulesName(draft.name, ruleOf(draft));
        await queries.invalidateQueries({ queryKey: ["alert-rules"] });
      }}
      onClose={onClose}
    >
      {!base && <TextField label={t("name")} value={draft.name} onChange={(name) => change({ name })} />}
      <RuleFields draft={draft} change={change} />
    </ConfirmDialog>
  );
}
