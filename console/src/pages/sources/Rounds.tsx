import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getSourcesTypeNameRounds } from "../../api/generated/client";
import type { RoundView, SourceView } from "../../api/generated/models";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { StateTag } from "../../parts/StateTag";
import { duration } from "../../parts/times";
import { DIFFERS, repaired } from "./counts";

const route = getRouteApi("/sources/$type");

/** A source's rounds, newest first; each leads to what it found. */
export function Rounds({ source, stamp }: { source: SourceView; stamp: string }) {
  const { t } = useTranslation("sources");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const asked = useQuery({
    queryKey: ["source", source.type, "rounds", search.rounds, stamp],
    queryFn: ({ signal }) =>
      getSourcesTypeNameRounds(source.type, { cursor: search.rounds, limit: 10 }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("round.title")} id="rounds">
      <Found<RoundView>
        asked={asked}
        caption={t("round.title")}
        columns={useColumns(source.type)}
        id={(one) => String(one.number)}
        cursor={search.rounds}
        go={(rounds) => void navigate({ search: { ...search, rounds } })}
        empty={<p className="soft">{t("noRound")}</p>}
      />
    </Card>
  );
}

function useColumns(type: string): Column<RoundView>[] {
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
    { title: t("columns.began"), kind: "tight", show: (one) => <Moment at={one.began_at} /> },
    { title: t("columns.took"), kind: "number", show: (one) => took(one) },
    { title: t("columns.rows"), kind: "number", show: (one) => (one.counts.rows ?? 0).toLocaleString() },
    ...DIFFERS.map(
      (name): Column<RoundView> => ({
        title: t(`count.${name}`),
        kind: "number",
        show: (one) => (one.counts[name] ?? 0).toLocaleString(),
      }),
    ),
    {
      title: t("columns.repaired"),
      kind: "number",
      show: (one) => (one.dry ? "–" : repaired(one).toLocaleString()),
    },
    {
      title: t("columns.error"),
      show: (one) => one.error && <span className="tone-bad toned">{one.error}</span>,
    },
  ];
}

const took = (one: RoundView): string =>
  one.ended_at ? duration(Date.parse(one.ended_at) - Date.parse(one.began_at)) : "–";
