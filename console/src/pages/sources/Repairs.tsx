import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getSourcesTypeNameRepairs } from "../../api/generated/client";
import type { RepairView, SourceView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { KeyLink } from "../../parts/instance-links";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";

const route = getRouteApi("/sources/$type");

/** The differences that rounds found and their repairs. They are read again when a round starts or ends. */
export function Repairs({ source, stamp }: { source: SourceView; stamp: string }) {
  const { t } = useTranslation("sources");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { round, cursor } = search;
  const query = useQuery({
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
      <PagedTable<RepairView>
        query={query}
        caption={title}
        columns={useColumns(source)}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { ...search, cursor: next } })}
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
    {
      title: t("columns.did"),
      show: (one) => <RepairText one={one} keeps={source.spec.orphans !== "cancel"} />,
    },
    { title: t("columns.ours"), kind: "tight", show: (one) => one.ours && <Timestamp at={one.ours} /> },
    { title: t("columns.theirs"), kind: "tight", show: (one) => one.theirs && <Timestamp at={one.theirs} /> },
    { title: t("columns.round"), kind: "number", show: (one) => one.round },
    { title: t("columns.at"), kind: "tight", show: (one) => <Timestamp at={one.at} /> },
  ];
}

/** The repair of a difference; of a dry run, the repair that would be made. */
function RepairText({ one, keeps }: { one: RepairView; keeps: boolean }) {
  const { t } = useTranslation("sources");
  if (one.decision === null) {
    const would = one.found === "orphan" && keeps ? "kept" : one.found;
    return <span className="tone-warn toned">{t(`would.${would}`)}</span>;
  }
  const known = ["created", "moved", "replaced", "cancelled", "ignored"] as const;
  const decision = known.find((name) => name === one.decision);
  return <span className="tone-good toned">{decision ? t(`did.${decision}`) : one.decision}</span>;
}
