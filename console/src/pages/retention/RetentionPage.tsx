import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getSchedulerRetention } from "../../api/generated/client";
import type { RetentionTermsView, RetentionView } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { CellsDown } from "../../parts/CellsDown";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Figure } from "../../parts/Figure";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { CellDays } from "./CellDays";

const REFRESH_MS = 60_000;
const TERMS = ["history", "held", "archive", "logs", "dead_letters", "ended_jobs", "audit"] as const;

/** How long things are kept, since when there are rows and, for the platform, where the days of each cell are. */
export function RetentionPage() {
  const { t } = useTranslation("retention");
  const isPlatform = useIsPermitted("growth.read");
  const query = useQuery({
    queryKey: ["retention"],
    queryFn: ({ signal }) => getSchedulerRetention({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const found = query.data;
  return (
    <Page title={t("title")} actions={isPlatform && <Link to="/capacity">{t("capacity")}</Link>}>
      <p className="soft">{t("about")}</p>
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      <CellsDown cells={found?.cells_down} />
      {!found && !query.error && <Loading />}
      {found && (
        <>
          <Since found={found} />
          <Terms terms={found.terms ?? null} />
          {found.cells?.map((cell) => (
            <CellDays key={cell.cell} cell={cell} />
          ))}
        </>
      )}
    </Page>
  );
}

/** Since when there are rows. */
function Since({ found }: { found: RetentionView }) {
  const { t } = useTranslation("retention");
  const archives = found.terms?.archive !== null && found.terms !== null;
  return (
    <Card title={t("since.title")}>
      <dl className="figures">
        <Figure name={t("since.hot")}>{found.hot_since ?? t("since.none")}</Figure>
        <Figure name={t("since.archived")}>
          {found.archived_since ?? t(archives ? "since.none" : "since.noArchive")}
        </Figure>
      </dl>
    </Card>
  );
}

interface Term {
  name: (typeof TERMS)[number];
  days: number | null;
}

/** How long each kind of row is kept, and the setting that says so. */
function Terms({ terms }: { terms: RetentionTermsView | null }) {
  const { t } = useTranslation("retention");
  const columns: Column<Term>[] = [
    { title: t("terms.what"), show: (one) => t(`terms.${one.name}.what`) },
    {
      title: t("terms.days"),
      kind: "number",
      show: (one) => (one.days === null ? t("since.noArchive") : t("terms.count", { count: one.days })),
    },
    { title: t("terms.after"), show: (one) => t(`terms.${one.name}.after`) },
    {
      title: t("terms.setting"),
      kind: "tight",
      show: (one) => <code>{t(`terms.${one.name}.setting`)}</code>,
    },
  ];
  return (
    <Card title={t("terms.title")}>
      {terms ? (
        <DataTable
          caption={t("terms.title")}
          columns={columns}
          items={TERMS.map((name) => ({ name, days: terms[name] }))}
          id={(one) => one.name}
        />
      ) : (
        <p className="soft">{t("terms.unmeasured")}</p>
      )}
    </Card>
  );
}
