import { useTranslation } from "react-i18next";
import type { Allowance, Limit, TenantView } from "../../api/generated/models";
import { Fact } from "../instances/Facts";

/** What does not change about a tenant. */
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

/** What a tenant may use. */
export function AllowanceFacts({ allowance }: { allowance: Allowance }) {
  const { t } = useTranslation("tenants");
  const quotas = Object.entries(allowance.quotas ?? {}) as [string, Limit][];
  return (
    <dl className="facts">
      <Fact name={t("allowance.weight")}>{allowance.weight ?? 1}</Fact>
      <Fact name={t("allowance.limit")}>
        <Limited limit={allowance.limit} />
      </Fact>
      <Fact name={t("allowance.retries")}>
        <Limited limit={allowance.retries} />
      </Fact>
      <Fact name={t("allowance.requests")}>
        {allowance.requests ? <Limited limit={allowance.requests} /> : t("allowance.usual")}
      </Fact>
      {quotas.map(([name, limit]) => (
        <Fact key={name} name={t("allowance.quota", { name })}>
          <Limited limit={limit} />
        </Fact>
      ))}
    </dl>
  );
}

function Limited({ limit }: { limit: Limit | null | undefined }) {
  const { t } = useTranslation("tenants");
  const said = [
    limit?.rate && t("limit.rate", { count: limit.rate }),
    limit?.burst && t("limit.burst", { count: limit.burst }),
    limit?.concurrency && t("limit.concurrency", { count: limit.concurrency }),
  ].filter(Boolean);
  return <>{said.length > 0 ? said.join(" · ") : t("limit.none")}</>;
}
