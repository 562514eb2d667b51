import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import {
  getTenant,
  getTenantStatus,
  postTenantKeys,
  postTenantPause,
  postTenantResume,
} from "../../api/generated/client";
import { ActionButton } from "../../parts/ActionButton";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { AllowanceDialog } from "./AllowanceDialog";
import { AllowanceFacts, TenantFacts } from "./Facts";
import { NewKeyDialog } from "./NewKeyDialog";
import { TenantStatus } from "./TenantStatus";

const route = getRouteApi("/tenants/all/$tenant");

/** One tenant for platform users: status, allowance, and its first key. */
export function TenantPage() {
  const { t } = useTranslation("tenants");
  const { tenant } = route.useParams();
  const [open, setOpen] = useState<"allow" | "key" | null>(null);
  const query = useQuery({
    queryKey: ["tenants", "one", tenant],
    queryFn: ({ signal }) => getTenant(tenant, { signal }),
  });
  const status = useQuery({
    queryKey: ["tenants", "status", tenant],
    queryFn: ({ signal }) => getTenantStatus(tenant, { signal }),
    refetchInterval: 10_000,
  });
  const one = query.data;
  const error = query.error ?? status.error;
  const close = () => setOpen(null);
  return (
    <Page
      title={t("one", { name: tenant })}
      actions={
        one && (
          <>
            <ActionButton action="tenants.allow" onClick={() => setOpen("allow")}>
              {t("allowance.change")}
            </ActionButton>
            <ActionButton action="tenants.keys.create" onClick={() => setOpen("key")}>
              {t("keys.create")}
            </ActionButton>
          </>
        )
      }
    >
      {error && <ErrorMessage error={error} />}
      {!one && !error && <Loading />}
      {one && (
        <>
          <Card title={t("own")}>
            <TenantStatus
              name={one.name}
              status={status.data?.status}
              resource="tenants"
              onConfirm={(verb) => (verb === "pause" ? postTenantPause(tenant) : postTenantResume(tenant))}
            />
            <TenantFacts one={one} />
          </Card>
          <Card title={t("allowance.title")}>
            <AllowanceFacts allowance={one.allowance} />
          </Card>
          {open === "allow" && <AllowanceDialog one={one} onClose={close} />}
          {open === "key" && (
            <NewKeyDialog create={(draft) => postTenantKeys(tenant, draft)} onClose={close} />
          )}
        </>
      )}
    </Page>
  );
}
