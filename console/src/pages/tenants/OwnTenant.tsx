import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import {
  getOwnTenant,
  getOwnTenantStatus,
  postOwnTenantPause,
  postOwnTenantResume,
} from "../../api/generated/client";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card } from "../../parts/Page";
import { AllowanceFacts, TenantFacts } from "./Facts";
import { TenantStatus } from "./TenantStatus";

/** The tenant of the session. The platform sets its allowance. */
export function OwnTenant() {
  const { t } = useTranslation("tenants");
  const query = useQuery({ queryKey: ["tenant"], queryFn: ({ signal }) => getOwnTenant({ signal }) });
  const status = useQuery({
    queryKey: ["tenant", "status"],
    queryFn: ({ signal }) => getOwnTenantStatus({ signal }),
    refetchInterval: 10_000,
  });
  const one = query.data;
  const error = query.error ?? status.error;
  return (
    <Card title={t("own")} id="own">
      {error && <ErrorMessage error={error} />}
      {!one && !error && <Loading />}
      {one && (
        <>
          <TenantStatus
            name={one.name}
            status={status.data?.status}
            resource="tenant"
            onConfirm={(verb) => (verb === "pause" ? postOwnTenantPause() : postOwnTenantResume())}
          />
          <TenantFacts one={one} />
          <h3>{t("allowance.title")}</h3>
          <AllowanceFacts allowance={one.allowance} />
        </>
      )}
    </Card>
  );
}
