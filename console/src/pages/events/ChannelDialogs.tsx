import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putIntakesName, putSubscriptionsName } from "../../api/generated/client";
import type { IntakeView, SubscriptionView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { TextField } from "../../parts/Fields";
import { SubscriptionFields, TopicFields } from "./ChannelFields";
import { type Draft, draftOfIntake, draftOfSubscription, EMPTY, intakeOf, subscriptionOf } from "./draft";

/** Creates a subscription, or changes an existing one. */
export function SubscriptionDialog({ base, onClose }: { base?: SubscriptionView; onClose: () => void }) {
  const { t } = useTranslation("events");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOfSubscription(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <ConfirmDialog
      title={base ? t("out.change", { name: base.name }) : t("out.open")}
      verb={t("out.verb")}
      effect={[base ? t("out.kept") : t("out.now"), t("out.order"), t("out.payloads")]}
      onConfirm={async () => {
        await putSubscriptionsName(draft.name, subscriptionOf(draft));
        await queries.invalidateQueries({ queryKey: ["subscriptions"] });
      }}
      onClose={onClose}
    >
      {!base && <TextField label={t("form.name")} value={draft.name} onChange={(name) => change({ name })} />}
      <SubscriptionFields draft={draft} change={change} />
    </ConfirmDialog>
  );
}

/** Creates an intake, or changes an existing one. */
export function IntakeDialog({ base, onClose }: { base?: IntakeView; onClose: () => void }) {
  const { t } = useTranslation("events");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOfIntake(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <ConfirmDialog
      title={base ? t("in.change", { name: base.name }) : t("in.open")}
      verb={t("in.verb")}
      effect={[t("in.now"), t("in.whose"), t("in.parks")]}
      onConfirm={async () => {
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
    </ConfirmDialog>
  );
}
