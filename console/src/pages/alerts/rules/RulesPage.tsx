import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteAlertRulesName, getAlertRules } from "../../../api/generated/client";
import type { AlertRuleView } from "../../../api/generated/models";
import { ActionButton } from "../../../parts/ActionButton";
import type { Column } from "../../../parts/DataTable";
import { EmptyState } from "../../../parts/EmptyState";
import { Page } from "../../../parts/Page";
import { PagedTable } from "../../../parts/PagedTable";
import { duration } from "../../../parts/times";
import { FACTS, type Unit } from "../kinds";
import { SeverityMark } from "../Marks";
import { RemoveButton } from "../RemoveButton";
import { SelectorText } from "../SelectorFields";
import { Views } from "../Views";
import { RuleDialog } from "./RuleDialog";

const route = getRouteApi("/alerts/rules");
const EXAMPLE = "horae alert-rule put coupons --kind no_success --job coupon_job --threshold 3600";
const DEFAULT_CHANNEL = "default";

/** The units that are times, in milliseconds. */
const UNITS_MS: Partial<Record<Unit, number>> = {
  late: 1_000,
  noSuccess: 1_000,
  seconds: 1_000,
  milliseconds: 1,
};

/** The alert rules of the tenant. */
export function RulesPage() {
  const { t } = useTranslation("alertSettings");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ["alert-rules", cursor],
    queryFn: ({ signal }) => getAlertRules({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t("rules.title")}
      actions={
        <ActionButton action="alert_rules.put" type="primary" onClick={() => setAdding(true)}>
          {t("rules.open")}
        </ActionButton>
      }
    >
      <Views here="rules" />
      <p className="soft">{t("rules.about")}</p>
      {adding && <RuleDialog onClose={() => setAdding(false)} />}
      <PagedTable<AlertRuleView>
        query={query}
        caption={t("rules.title")}
        columns={useColumns()}
        id={(rule) => rule.name}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("rules.none")} help={t("rules.emptyHelp")} line={EXAMPLE} />}
      />
    </Page>
  );
}

function useColumns(): Column<AlertRuleView>[] {
  const { t } = useTranslation(["alertSettings", "alerts"]);
  return [
    { title: t("name"), show: (rule) => rule.name },
    {
      title: t("rules.kind"),
      show: (rule) => (
        <>
          {t(`alerts:kinds.${rule.kind}`)} {rule.severity && <SeverityMark severity={rule.severity} />}
        </>
      ),
    },
    { title: t("rules.covers"), show: (rule) => <SelectorText selector={rule} /> },
    { title: t("rules.thresholdColumn"), show: (rule) => <ThresholdText rule={rule} /> },
    { title: t("rules.channels"), show: (rule) => rule.channels.join(", ") || DEFAULT_CHANNEL },
    { title: t("silences.state"), kind: "tight", show: (rule) => <EnabledMark enabled={rule.enabled} /> },
    { title: t("actions"), kind: "tight", show: (rule) => <Actions rule={rule} /> },
  ];
}

function ThresholdText({ rule }: { rule: AlertRuleView }) {
  const { t } = useTranslation("alertSettings");
  const { threshold, unit } = FACTS[rule.kind];
  if (threshold === undefined || unit === undefined) return <>{t("rules.each")}</>;
  const value = rule.threshold ?? threshold;
  const unitMs = UNITS_MS[unit];
  if (unitMs !== undefined) return <>{value === 0 ? t("rules.atOnce") : duration(value * unitMs)}</>;
  if (unit === "share") return <>{(value * 100).toLocaleString()} %</>;
  return (
    <>
      {value.toLocaleString()} {t(`rules.unit.${unit}`)}
    </>
  );
}

function EnabledMark({ enabled }: { enabled: boolean }) {
  const { t } = useTranslation("alertSettings");
  return (
    <span className={`state tone-${enabled ? "good" : "idle"}`}>
      {enabled ? t("rules.on") : t("rules.isOff")}
    </span>
  );
}

function Actions({ rule }: { rule: AlertRuleView }) {
  const { t } = useTranslation("alertSettings");
  const [editing, setEditing] = useState(false);
  return (
    <Space size={4}>
      <ActionButton action="alert_rules.put" size="small" onClick={() => setEditing(true)}>
        {t("edit")}
      </ActionButton>
      <RemoveButton
        action="alert_rules.remove"
        title={t("rules.removeTitle", { name: rule.name })}
        effect={[t("rules.ends"), t("rules.back")]}
        queryKey="alert-rules"
        onRemove={() => deleteAlertRulesName(rule.name)}
      />
      {editing && <RuleDialog base={rule} onClose={() => setEditing(false)} />}
    </Space>
  );
}
