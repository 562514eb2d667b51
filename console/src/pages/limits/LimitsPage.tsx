import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getOwnTenant, getOwnTenantUsage } from "../../api/generated/client";
import type { LimitUseView } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { CellsDown } from "../../parts/CellsDown";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { CallLimits } from "./CallLimits";
import { HeldCalls } from "./HeldCalls";
import { NearestTenants } from "./NearestTenants";
import { UseTable } from "./UseTable";

const REFRESH_MS = 30_000;

/** What the tenant uses of its limits, what its limits hold back now and, for the platform, who is near a limit. */
export function LimitsPage() {
  const { t } = useTranslation("limits");
  const usage = useQuery({
    queryKey: ["tenant", "usage"],
    queryFn: ({ signal }) => getOwnTenantUsage({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const tenant = useQuery({ queryKey: ["tenant"], queryFn: ({ signal }) => getOwnTenant({ signal }) });
  const error = usage.error ?? tenant.error;
  const isPlatform = useIsPermitted("tenants.list");
  const seesHolds = useIsPermitted("holds.list");
  return (
    <Page title={t("title")}>
      <p className="soft">{t("about")}</p>
      {isPlatform && <NearestTenants />}
      <Card title={t("uses.title")}>
        {error && <ErrorMessage error={error} onRetry={() => void usage.refetch()} />}
        <CellsDown cells={usage.data?.cells_down} />
        {!usage.data && !usage.error && <Loading />}
        {usage.data && (
          <>
            <UseSentence uses={usage.data.uses} />
            <UseTable uses={usage.data.uses} allowance={tenant.data?.allowance} />
          </>
        )}
      </Card>
      {seesHolds && <HeldCalls />}
      {tenant.data && <CallLimits allowance={tenant.data.allowance} />}
    </Page>
  );
}

/** How many limits are reached or near, as one sentence. */
function UseSentence({ uses }: { uses: LimitUseView[] }) {
  const { t } = useTranslation("limits");
  const reached = uses.filter((one) => one.used > 0 && one.used >= one.most).length;
  const near = uses.filter((one) => one.near).length - reached;
  const name = reached > 0 ? "reached" : near > 0 ? "near" : "far";
  return <p className="sentence">{t(`uses.sentence.${name}`, { reached, near })}</p>;
}
