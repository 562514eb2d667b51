import { useTranslation } from "react-i18next";
import type { AllowanceSpec, LimitSpec } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { callLimitsOf } from "./uses";

interface CallLimit {
  key: string;
  name: string;
  limit: LimitSpec | null | undefined;
  reached: string;
}

/** The limits of calls, requests and schedules that have no figure of use, each with what happens when it is reached. */
export function CallLimits({ allowance }: { allowance: AllowanceSpec }) {
  const { t } = useTranslation("limits");
  const columns: Column<CallLimit>[] = [
    { title: t("uses.limit"), show: (one) => one.name },
    { title: t("calls.allowed"), show: (one) => <LimitText limit={one.limit} /> },
    { title: t("uses.reached"), show: (one) => one.reached },
  ];
  const calls = callLimitsOf(allowance.limit, (allowance.quotas ?? {}) as Record<string, LimitSpec>);
  const items: CallLimit[] = calls.map(({ key, limit }) => ({
    key,
    limit,
    name: key === "tenant" ? t("calls.own") : t("calls.quota", { name: key.replace("quota/", "") }),
    reached: t("calls.wait"),
  }));
  const period = allowance.counts?.shortest_period ?? 1;
  items.push({
    key: "requests",
    name: t("calls.requests"),
    limit: allowance.requests,
    reached: t("calls.refused"),
  });
  return (
    <Card title={t("calls.title")}>
      <p className="soft">{t("calls.about")}</p>
      <DataTable caption={t("calls.title")} columns={columns} items={items} id={(one) => one.key} />
      <p className="soft">{t("calls.period", { seconds: period })}</p>
    </Card>
  );
}

function LimitText({ limit }: { limit: LimitSpec | null | undefined }) {
  const { t } = useTranslation("limits");
  const parts = [
    limit?.rate && t("calls.rate", { count: limit.rate }),
    limit?.burst && t("calls.burst", { count: limit.burst }),
    limit?.concurrency && t("calls.concurrency", { count: limit.concurrency }),
  ].filter(Boolean);
  return <>{parts.length > 0 ? parts.join(" · ") : t("calls.deployment")}</>;
}
