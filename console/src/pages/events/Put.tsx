import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putIntakesName, putSubscriptionsName } from "../../api/generated/client";
import type { IntakeView, SubscriptionView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { Confirm } from "../../parts/Confirm";
import { TextField } from "../../parts/Fields";
import { SubscriptionFields, TopicFields } from "./Channel";
import { type Draft, draftOfIntake, draftOfSubscription, EMPTY, intakeOf, subscriptionOf } from "./draft";

/** Who is told from now on: a new subscription, or another version of one. */
export function PutSubscription({ base, onClose }: { base?: SubscriptionView; onClose: () => void }) {
  const { t } = useTranslation("events");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOfSubscription(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <Confirm
      title={base ? t("out.change", { name: base.name }) : t("out.open")}
      verb={t("out.verb")}
      effect={[base ? t("out.kept") : t("out.now"), t("out.order"), t("out.payloads")]}
      act={async () => {
        await putSubscriptionsName(draft.name, subscriptionOf(draft));
        await queries.invalidateQueries({ queryKey: ["subscriptions"] });
      }}
      onClose={onClose}
    >
      {!base && <TextField label={t("form.name")} value={draft.name} onChange={(name) => change({ name })} />}
      <SubscriptionFields draft={draft} change={change} />
    </Confirm>
  );
}

/** By which topic changes come in from now on. */
export function PutIntake({ base, onClose }: { base?: IntakeView; onClose: () => void }) {
  const { t } = useTranslation("events");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOfIntake(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <Confirm
      title={base ? t("in.change", { name: base.name }) : t("in.open")}
      verb={t("in.verb")}
      effect={[t("in.now"), t("in.whose"), t("in.parks")]}
      act={async () => {
        await putIntakesName(draft.name, intakeOf(draft));
        await queries.invalidateQueries({ queryKey: ["intakes"] });
      }}
      onClose={onClose}
    >
      {!base && <TextField label={t("form.name")} value={draft.name} onChange={(name) => change({ name })} />}
      <TopicFields draft={draft} change={change} />
      <TextField
        label={t("form.types")}
        help={t("form.typesHelp")}
        rows={2}
        value={draft.types}
        onChange={(types) => change({ types })}
      />
    </Confirm>
  );
}
