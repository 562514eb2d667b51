import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button, Select } from "antd";
import { useTranslation } from "react-i18next";
import { getAlertChannels } from "../../api/generated/client";
import { useIsPermitted } from "../../app/permissions";
import { Page } from "../../parts/Page";
import { TextFilter } from "../../parts/TextFilter";
import { AlertList } from "./AlertList";
import { type AlertFilters, STATES } from "./filters";
import { KINDS } from "./kinds";
import { Views } from "./Views";

const route = getRouteApi("/alerts");

/** The alerts of the tenant: open ones first, then those that somebody takes care of, then the resolved ones. */
export function AlertsPage() {
  const { t } = useTranslation("alerts");
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const filtered = Boolean(filters.kind || filters.job);
  const shows = (state: (typeof STATES)[number]) => filters.state === undefined || filters.state === state;
  return (
    <Page title={t("title")}>
      <Views here="alerts" />
      <NoChannelHint />
      <FilterBar filters={filters} onChange={(search) => void navigate({ search })} />
      {shows("OPEN") && (
        <AlertList
          state="OPEN"
          empty={<p className="soft">{t(filtered ? "open.noMatch" : "open.none")}</p>}
        />
      )}
      {shows("ACKNOWLEDGED") && (
        <AlertList
          state="ACKNOWLEDGED"
          hideEmpty={filters.state === undefined}
          empty={<p className="soft">{t("acknowledged.none")}</p>}
        />
      )}
      {shows("RESOLVED") && (
        <AlertList
          state="RESOLVED"
          hideEmpty={filters.state === undefined}
          empty={<p className="soft">{t("resolved.none")}</p>}
        />
      )}
    </Page>
  );
}

/** A hint while the tenant has no alert channel: then nothing is found, and nobody is notified. */
function NoChannelHint() {
  const { t } = useTranslation("alerts");
  const query = useQuery({
    queryKey: ["alert-channels", "any"],
    queryFn: ({ signal }) => getAlertChannels({ limit: 1 }, { signal }),
    enabled: useIsPermitted("alert_channels.list"),
  });
  if (query.data === undefined || query.data.items.length > 0) return null;
  return (
    <p className="hold">
      {t("open.noChannel")} <Link to={"/alerts/channels" as string}>{t("open.addChannel")}</Link>
    </p>
  );
}

function FilterBar({ filters, onChange }: { filters: AlertFilters; onChange: (next: AlertFilters) => void }) {
  const { t } = useTranslation(["alerts", "states"]);
  const { state, kind, job } = filters;
  const change = (part: AlertFilters) => onChange({ state, kind, job, ...part });
  return (
    <search className="filters">
      <Select
        aria-label={t("filters.state")}
        placeholder={t("filters.state")}
        className="short"
        allowClear
        value={state}
        options={STATES.map((value) => ({ value, label: t(`states:${value}`) }))}
        onChange={(next) => change({ state: next })}
      />
      <Select
        aria-label={t("filters.kind")}
        placeholder={t("filters.kind")}
        className="wide"
        allowClear
        showSearch={{ optionFilterProp: "label" }}
        value={kind}
        options={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        onChange={(next) => change({ kind: next })}
      />
      <TextFilter label={t("filters.job")} value={job} onSend={(next) => change({ job: next })} />
      <Button onClick={() => onChange({})}>{t("filters.clear")}</Button>
    </search>
  );
}
