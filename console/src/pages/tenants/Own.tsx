import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import {
  getOwnTenant,
  getOwnTenantStanding,
  postOwnTenantPause,
  postOwnTenantResume,
} from "../../api/generated/client";
import { Loading } from "../../parts/Loading";
import { Card } from "../../parts/Page";
import { Trouble } from "../../parts/Trouble";
import { AllowanceFacts, TenantFacts } from "./Facts";
import { Standing } from "./Standing";

/** One's own tenant; what it may use is set by the platform. */
export function Own() {
  const { t } = useTranslation("tenants");
  const asked = useQuery({ queryKey: ["tenant"], queryFn: ({ signal }) => getOwnTenant({ signal }) });
  const standing = useQuery({
    queryKey: ["tenant", "standing"],
    queryFn: ({ signal }) => getOwnTenantStanding({ signal }),
    refetchInterval: 10_000,
  });
  const one = asked.data;
  const wrong = asked.error ?? standing.error;
  return (
    <Card title={t("own")} id="own">
      {wrong && <Trouble error={wrong} />}
      {!one && !wrong && <Loading />}
      {one && (
        <>
          <Standing
            name={one.name}
            status={standing.data?.status}
            of="tenant"
            act={(verb) => (verb === "pause" ? postOwnTenantPause() : postOwnTenantResume())}
          />
          <TenantFacts one={one} />
          <h3>{t("allowance.title")}</h3>
          <AllowanceFacts allowance={one.allowance} />
        </>
      )}
    </Card>
  );
}
