import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getSourcesTypeNameRounds } from "../../api/generated/client";
import type { SourceRoundView, SourceView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import { DIFFERENCES, repairedCount } from "./counts";

const route = getRouteApi("/sources/$type");

/** The rounds of a source, newest first, each with a link to its differences. */
export function Rounds({ source, stamp }: { source: SourceView; stamp: string }) {
  const { t } = useTranslation("sources");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["source", source.type, "rounds", search.rounds, stamp],
    queryFn: ({ signal }) =>
      getSourcesTypeNameRounds(source.type, { cursor: search.rounds, limit: 10 }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("round.title")} id="rounds">
      <PagedTable<SourceRoundView>
        query={query}
        caption={t("round.title")}
        columns={useColumns(source.type)}
        id={(one) => String(one.number)}
        cursor={search.rounds}
        onCursor={(rounds) => void navigate({ search: { ...search, rounds } })}
        empty={<p className="soft">{t("noRound")}</p>}
      />
    </Card>
  );
}

function useColumns(type: string): Column<SourceRoundView>[] {
  const { t } = useTranslation("sources");
  return [
    {
      title: t("columns.round"),
      kind: "tight",
      show: (one) => (
        <Link to="/sources/$type" params={{ type }} search={{ round: one.number }}>
          {t(one.dry ? "round.named" : "round.name", { number: one.number })}
        </Link>
      ),
    },
    { title: t("columns.status"), kind: "tight", show: (one) => <StateTag state={one.status} /> },
    { title: t("columns.began"), kind: "tight", show: (one) => <Timestamp at={one.began_at} /> },
    { title: t("columns.took"), kind: "number", show: (one) => took(one) },
    { title: t("columns.rows"), kind: "number", show: (one) => (one.counts.rows ?? 0).toLocaleString() },
    ...DIFFERENCES.map(
      (name): Column<SourceRoundView> => ({
        title: t(`count.${name}`),
        kind: "number",
        show: (one) => (one.counts[name] ?? 0).toLocaleString(),
      }),
    ),
    {
      title: t("columns.repaired"),
      kind: "number",
      show: (one) => (one.dry ? "–" : repairedCount(one).toLocaleString()),
    },
    {
      title: t("columns.error"),
      show: (one) => one.error && <span className="tone-bad toned">{one.error}</span>,
    },
  ];
}

const took = (one: SourceRoundView): string =>
  one.ended_at ? duration(Date.parse(one.ended_at) - Date.parse(one.began_at)) : "–";
