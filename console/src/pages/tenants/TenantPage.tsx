import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import {
  getTenant,
  getTenantStanding,
  postTenantKeys,
  postTenantPause,
  postTenantResume,
} from "../../api/generated/client";
import { Act } from "../../parts/Act";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Trouble } from "../../parts/Trouble";
import { Allow } from "./Allow";
import { AllowanceFacts, TenantFacts } from "./Facts";
import { NewKey } from "./NewKey";
import { Standing } from "./Standing";

const route = getRouteApi("/tenants/all/$tenant");

/** One tenant as the platform's people see it: what it may use, its first key, whether it goes on. */
export function TenantPage() {
  const { t } = useTranslation("tenants");
  const { tenant } = route.useParams();
  const [doing, setDoing] = useState<"allow" | "key" | null>(null);
  const asked = useQuery({
    queryKey: ["tenants", "one", tenant],
    queryFn: ({ signal }) => getTenant(tenant, { signal }),
  });
  const standing = useQuery({
    queryKey: ["tenants", "standing", tenant],
    queryFn: ({ signal }) => getTenantStanding(tenant, { signal }),
    refetchInterval: 10_000,
  });
  const one = asked.data;
  const wrong = asked.error ?? standing.error;
  const close = () => setDoing(null);
  return (
    <Page
      title={t("one", { name: tenant })}
      acts={
        one && (
          <>
            <Act action="tenants.allow" onClick={() => setDoing("allow")}>
              {t("allowance.change")}
            </Act>
            <Act action="tenants.keys.create" onClick={() => setDoing("key")}>
              {t("keys.create")}
            </Act>
          </>
        )
      }
    >
      {wrong && <Trouble error={wrong} />}
      {!one && !wrong && <Loading />}
      {one && (
        <>
          <Card title={t("own")}>
            <Standing
              name={one.name}
              status={standing.data?.status}
              of="tenants"
              act={(verb) => (verb === "pause" ? postTenantPause(tenant) : postTenantResume(tenant))}
            />
            <TenantFacts one={one} />
          </Card>
          <Card title={t("allowance.title")}>
            <AllowanceFacts allowance={one.allowance} />
          </Card>
          {doing === "allow" && <Allow one={one} onClose={close} />}
          {doing === "key" && <NewKey make={(told) => postTenantKeys(tenant, told)} onClose={close} />}
        </>
      )}
    </Page>
  );
}
