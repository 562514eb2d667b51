import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getMeasures } from "../../api/generated/client";
import type { MeasureStateView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ago, markedTime } from "../../parts/times";
import { MEASURES, MeasureDecisionDialog } from "./MeasureDecisionDialog";

/**
 * The measures of all scopes that are in force or decided about, for admins of the platform. A measure that its signal
 * brought into force can be switched off; the decision of a person can be lifted.
 */
export function PlatformMeasures() {
  const { t } = useTranslation("health");
  const [deciding, setDeciding] = useState<MeasureStateView | null>(null);
  const states = useQuery({
    queryKey: MEASURES,
    queryFn: ({ signal }) => getMeasures({ signal }),
    refetchInterval: 10_000,
  }).data;
  const visible = (states ?? []).filter((state) => state.override || state.actions.length > 0);
  return (
    <>
      {visible.length > 0 && (
        <section className="banner tone-warn" aria-label={t("measures.label")}>
          {visible.map((state) => (
            <div key={`${state.tenant} ${state.name}`}>
              <MeasureSentence state={state} />{" "}
              <ActionButton
                action={state.override ? "measures.lift" : "measures.override"}
                size="small"
                onClick={() => setDeciding(state)}
              >
                {t(state.override ? "measures.lift.verb" : "measures.override.verb")}
              </ActionButton>
            </div>
          ))}
        </section>
      )}
      {deciding && <MeasureDecisionDialog state={deciding} onClose={() => setDeciding(null)} />}
    </>
  );
}

/** What a measure does, for whom, since when, and who decided about it. */
function MeasureSentence({ state }: { state: MeasureStateView }) {
  const { t, i18n } = useTranslation("health");
  const facts = {
    name: state.name,
    tenant: state.tenant_name ?? state.tenant ?? "",
    actions: state.actions.map((action) => t(`measures.${action}`)).join(t("measures.and")),
    when: ago(Date.parse(state.since ?? state.judged_until), Date.now(), i18n.language),
  };
  if (!state.override) return t(state.tenant ? "measures.ofTenant" : "measures.platform", facts);
  const { actor, until, reason, in_force } = state.override;
  const decision = { ...facts, actor, until: markedTime(until), reason };
  if (state.tenant) return t(in_force ? "measures.decided.onFor" : "measures.decided.offFor", decision);
  return t(in_force ? "measures.decided.on" : "measures.decided.off", decision);
}
