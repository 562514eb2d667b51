import { useTranslation } from "react-i18next";
import type { AllowanceSpec, LimitSpec, TenantView } from "../../api/generated/models";
import { Fact } from "../../parts/Fact";

/** The fixed facts of a tenant. */
export function TenantFacts({ one }: { one: TenantView }) {
  const { t } = useTranslation("tenants");
  return (
    <dl className="facts">
      <Fact name={t("fact.name")}>{one.name}</Fact>
      <Fact name={t("fact.zone")}>{one.zone}</Fact>
      <Fact name={t("fact.width")}>{t("fact.shards", { count: one.width })}</Fact>
      <Fact name={t("fact.id")}>
        <code>{one.id}</code>
      </Fact>
    </dl>
  );
}

/** The allowance of a tenant. */
export function AllowanceFacts({ allowance }: { allowance: AllowanceSpec }) {
  const { t } = useTranslation("tenants");
  const quotas = Object.entries(allowance.quotas ?? {}) as [string, LimitSpec][];
  return (
    <dl className="facts">
      <Fact name={t("allowance.weight")}>{allowance.weight ?? 1}</Fact>
      <Fact name={t("allowance.limit")}>
        <LimitText limit={allowance.limit} />
      </Fact>
      <Fact name={t("allowance.retries")}>
        <LimitText limit={allowance.retries} />
      </Fact>
      <Fact name={t("allowance.requests")}>
        {allowance.requests ? <LimitText limit={allowance.requests} /> : t("allowance.defaultLimit")}
      </Fact>
      {quotas.map(([name, limit]) => (
        <Fact key={name} name={t("allowance.quota", { name })}>
          <LimitText limit={limit} />
        </Fact>
      ))}
    </dl>
  );
}

function LimitText({ limit }: { limit: LimitSpec | null | undefined }) {
  const { t } = useTranslation("tenants");
  const parts = [
    limit?.rate && t("limit.rate", { count: limit.rate }),
    limit?.burst && t("limit.burst", { count: limit.burst }),
    limit?.concurrency && t("limit.concurrency", { count: limit.concurrency }),
  ].filter(Boolean);
  return <>{parts.length > 0 ? parts.join(" · ") : t("limit.none")}</>;
}
