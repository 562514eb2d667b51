import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getMeasures } from "../../api/generated/client";
import type { MeasureName, MeasureStateView } from "../../api/generated/models";
import { MEASURES, MeasureDecisionDialog } from "../../app/health/MeasureDecisionDialog";
import { useHealth } from "../../app/health/useHealth";
import { useIsPermitted } from "../../app/permissions";
import { ActionButton } from "../../parts/ActionButton";
import { type Column, DataTable } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";

/** The protective measures in force: what each does, why, since when and until when; people may override them. */
export function Measures() {
  const { t } = useTranslation("onCall");
  const states = useMeasures();
  const [deciding, setDeciding] = useState<MeasureStateView | null>(null);
  const mayDecide = useIsPermitted("measures.override");
  const columns = useColumns(mayDecide ? setDeciding : null);
  return (
    <Card title={t("measures.title")} id="measures">
      <DataTable
        caption={t("measures.title")}
        columns={columns}
        items={states}
        id={(one) => `${one.tenant} ${one.name}`}
        empty={<p className="soft">{t("measures.none")}</p>}
      />
      {deciding && <MeasureDecisionDialog state={deciding} onClose={() => setDeciding(null)} />}
    </Card>
  );
}

/** Those of all scopes for admins of the platform, and those that concern the tenant for everybody else. */
function useMeasures(): MeasureStateView[] {
  const isPlatform = useIsPermitted("measures.override");
  const summary = useHealth().summary;
  const all = useQuery({
    queryKey: MEASURES,
    queryFn: ({ signal }) => getMeasures({ signal }),
    refetchInterval: 10_000,
    enabled: isPlatform,
  }).data;
  if (isPlatform) return (all ?? []).filter((one) => one.override || one.actions.length > 0);
  return (summary?.measures ?? []).map(({ until, scope, ...one }) => ({
    ...one,
    judged_until: until,
    tenant: scope === "tenant" ? scope : null,
  }));
}

function useColumns(onDecide: ((state: MeasureStateView) => void) | null): Column<MeasureStateView>[] {
  const { t } = useTranslation(["onCall", "health"]);
  const columns: Column<MeasureStateView>[] = [
    { title: t("measures.name"), show: (one) => <Name state={one} /> },
    {
      title: t("measures.what"),
      show: (one) => one.actions.map((action) => t(`health:measures.${action}`)).join("; "),
    },
    { title: t("measures.why"), show: (one) => <Why state={one} /> },
    { title: t("measures.since"), kind: "tight", show: (one) => <Timestamp at={one.since} /> },
    {
      title: t("measures.until"),
      kind: "tight",
      show: (one) => <Timestamp at={one.override?.until ?? one.judged_until} />,
    },
  ];
  if (onDecide)
    columns.push({
      title: t("measures.decide"),
      kind: "tight",
      show: (one) => (
        <ActionButton
          action={one.override ? "measures.lift" : "measures.override"}
          size="small"
          onClick={() => onDecide(one)}
        >
          {t(one.override ? "health:measures.lift.verb" : "health:measures.override.verb")}
        </ActionButton>
      ),
    });
  return columns;
}

/** The measure, and the tenant it concerns where it is not the whole platform. */
function Name({ state }: { state: MeasureStateView }) {
  return (
    <>
      <code>{state.name}</code> {state.tenant_name && <span className="soft">{state.tenant_name}</span>}
    </>
  );
}

/** The decision of a person, or the signal and its value. */
function Why({ state }: { state: MeasureStateView }) {
  const { t } = useTranslation("onCall");
  if (state.override)
    return t("measures.decided", { actor: state.override.actor, reason: state.override.reason });
  return t(`measures.signal.${state.name as MeasureName}`, { value: Number(state.value.toPrecision(3)) });
}
