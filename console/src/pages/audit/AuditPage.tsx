import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useTranslation } from "react-i18next";
import { getAudit } from "../../api/generated/client";
import type { AuditView } from "../../api/generated/models";
import { useSees } from "../../app/can";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Json } from "../../parts/Json";
import { Moment } from "../../parts/Moment";
import { Page } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { When } from "../../parts/When";
import { JobLink } from "../instances/columns";
import { Word } from "../instances/Filters";
import { Seal } from "./Seal";
import type { Sought } from "./sought";

const route = getRouteApi("/audit");

/** Who did what, newest first. */
export function AuditPage() {
  const { t } = useTranslation("audit");
  const sought = route.useSearch();
  const navigate = route.useNavigate();
  const sealed = useSees("audit.seal");
  const asked = useQuery({
    queryKey: ["audit", sought],
    queryFn: ({ signal }) => getAudit(sought, { signal }),
    placeholderData: keepPreviousData,
  });
  const filtered = Object.values(sought).some((value) => value !== undefined);
  return (
    <Page title={t("title")} acts={<Button onClick={() => void asked.refetch()}>{t("reload")}</Button>}>
      <p className="soft">{t("about")}</p>
      <Filters sought={sought} onChange={(search) => void navigate({ search })} />
      <Found<AuditView>
        asked={asked}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => `${one.at} ${one.action} ${one.resource}`}
        cursor={sought.cursor}
        go={(cursor) => void navigate({ search: { ...sought, cursor } })}
        empty={
          filtered ? (
            <p className="soft">{t("none")}</p>
          ) : (
            <Empty title={t("empty.title")} help={t("empty.help")} />
          )
        }
      />
      {sealed && <Seal />}
    </Page>
  );
}

function Filters({ sought, onChange }: { sought: Sought; onChange: (next: Sought) => void }) {
  const { t } = useTranslation("audit");
  const change = (part: Partial<Sought>) => onChange({ ...sought, ...part, cursor: undefined });
  return (
    <search className="filters">
      <Word label={t("columns.actor")} value={sought.actor} onSend={(actor) => change({ actor })} />
      <Word label={t("columns.action")} value={sought.action} onSend={(action) => change({ action })} />
      <Word
        label={t("columns.resource")}
        value={sought.resource}
        onSend={(resource) => change({ resource })}
      />
      <When label={t("since")} value={sought.since} onChange={(since) => change({ since })} />
      <When label={t("until")} value={sought.until} onChange={(until) => change({ until })} />
      <Button onClick={() => onChange({})}>{t("clear")}</Button>
    </search>
  );
}

function useColumns(): Column<AuditView>[] {
  const { t } = useTranslation("audit");
  return [
    { title: t("columns.at"), kind: "tight", show: (one) => <Moment at={one.at} /> },
    { title: t("columns.actor"), show: (one) => <code>{one.actor}</code> },
    { title: t("columns.action"), kind: "tight", show: (one) => one.action },
    { title: t("columns.resource"), show: (one) => <Resource id={one.resource} /> },
    { title: t("columns.detail"), show: (one) => <Detail one={one} /> },
  ];
}

/** What was done to leads to where it is shown. */
function Resource({ id }: { id: string }) {
  if (/^ins_[0-9a-z]{26}$/.test(id))
    return (
      <Link to="/instances/$instance" params={{ instance: id }}>
        {id}
      </Link>
    );
  return /^job_[0-9a-z]{26}$/.test(id) ? <JobLink one={{ job_id: id }} /> : id;
}

function Detail({ one }: { one: AuditView }) {
  const { t } = useTranslation("audit");
  if (one.detail === null || one.detail === undefined || Object.keys(Object(one.detail)).length === 0)
    return null;
  return (
    <details>
      <summary>{t("show")}</summary>
      <Json value={one.detail} label={t("columns.detail")} />
    </details>
  );
}
