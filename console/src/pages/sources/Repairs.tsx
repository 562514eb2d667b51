import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getSourcesTypeNameRepairs } from "../../api/generated/client";
import type { RepairView, SourceView } from "../../api/generated/models";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { KeyLink } from "../instances/columns";

const route = getRouteApi("/sources/$type");

/** What rounds found and did, or would have done; asked again when a round has begun or ended. */
export function Repairs({ source, stamp }: { source: SourceView; stamp: string }) {
  const { t } = useTranslation("sources");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { round, cursor } = search;
  const asked = useQuery({
    queryKey: ["source", source.type, "repairs", round, cursor, stamp],
    queryFn: ({ signal }) => getSourcesTypeNameRepairs(source.type, { round, cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  const title = round ? t("repairs.of", { number: round }) : t("repairs.title");
  return (
    <Card title={title} id="repairs">
      {round && (
        <p>
          <Link to="/sources/$type" params={{ type: source.type }} search={{}}>
            {t("repairs.all")}
          </Link>
        </p>
      )}
      <Found<RepairView>
        asked={asked}
        caption={title}
        columns={useColumns(source)}
        id={(one) => one.id}
        cursor={cursor}
        go={(next) => void navigate({ search: { ...search, cursor: next } })}
        empty={<p className="soft">{round ? t("repairs.noneOf", { number: round }) : t("repairs.none")}</p>}
      />
    </Card>
  );
}

function useColumns(source: SourceView): Column<RepairView>[] {
  const { t } = useTranslation("sources");
  return [
    { title: t("columns.key"), show: (one) => <KeyLink one={{ job: source.type, key: one.key }} /> },
    { title: t("columns.found"), show: (one) => t(`found.${one.found}`) },
    { title: t("columns.did"), show: (one) => <Did one={one} keeps={source.spec.orphans !== "cancel"} /> },
    { title: t("columns.ours"), kind: "tight", show: (one) => one.ours && <Moment at={one.ours} /> },
    { title: t("columns.theirs"), kind: "tight", show: (one) => one.theirs && <Moment at={one.theirs} /> },
    { title: t("columns.round"), kind: "number", show: (one) => one.round },
    { title: t("columns.at"), kind: "tight", show: (one) => <Moment at={one.at} /> },
  ];
}

/** What was done about a difference; what would be, where the round was dry. */
function Did({ one, keeps }: { one: RepairView; keeps: boolean }) {
  const { t } = useTranslation("sources");
  if (one.decision === null) {
    const would = one.found === "orphan" && keeps ? "kept" : one.found;
    return <span className="tone-warn toned">{t(`would.${would}`)}</span>;
  }
  const known = ["created", "moved", "replaced", "cancelled", "ignored"] as const;
  const said = known.find((name) => name === one.decision);
  return <span className="tone-good toned">{said ? t(`did.${said}`) : one.decision}</span>;
}
