import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { AllowanceSpec, LimitUseView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ShareBar } from "../../parts/ShareBar";
import { figureOf, PLACES, percentOf, shareOf, toneOfUse } from "./uses";

/** Each limit with what is used of it, what happens when it is reached, and who can raise it. */
export function UseTable({
  uses,
  allowance,
}: {
  uses: LimitUseView[];
  allowance: AllowanceSpec | undefined;
}) {
  const { t } = useTranslation("limits");
  const columns: Column<LimitUseView>[] = [
    { title: t("uses.limit"), show: (one) => <LimitName use={one} /> },
    { title: t("uses.used"), show: (one) => <UseBar use={one} /> },
    {
      title: t("uses.reached"),
      show: (one) => t(`reached.${one.kind}`, { rate: allowance?.retries?.rate ?? "–" }),
    },
    { title: t("uses.raised"), kind: "tight", show: () => t("uses.platform") },
  ];
  return (
    <DataTable
      caption={t("uses.title")}
      columns={columns}
      items={uses}
      id={(one) => `${one.kind} ${one.name ?? ""}`}
    />
  );
}

/** The name of a limit; a link where the rows are that it counts. */
export function LimitName({ use, linked = true }: { use: LimitUseView; linked?: boolean }): ReactNode {
  const { t } = useTranslation("limits");
  const place = linked ? PLACES[use.kind] : undefined;
  const text =
    use.kind !== "permits"
      ? t(`kinds.${use.kind}`)
      : use.name === "tenant"
        ? t("kinds.ownPermits")
        : t("kinds.permits", { name: use.name?.replace("quota/", "") });
  if (!place) return text;
  return (
    <Link to={place.to as string} search={place.search} hash={place.hash}>
      {text}
    </Link>
  );
}

/** How much of a limit is used, as text and as a bar. */
export function UseBar({ use }: { use: LimitUseView }) {
  const { t } = useTranslation("limits");
  const tone = toneOfUse(use);
  const text = t("uses.text", {
    used: figureOf(use.kind, use.used),
    most: figureOf(use.kind, use.most),
    percent: percentOf(use),
  });
  const mark = tone === "bad" ? ` · ${t("uses.isReached")}` : tone === "warn" ? ` · ${t("uses.isNear")}` : "";
  return <ShareBar share={shareOf(use)} tone={tone} text={`${text}${mark}`} />;
}
