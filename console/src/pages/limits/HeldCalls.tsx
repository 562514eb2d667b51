import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getHolds } from "../../api/generated/client";
import type { HoldView } from "../../api/generated/models";
import { HoldLine } from "../../parts/HoldLine";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { waitingFilter } from "./uses";

const REFRESH_MS = 10_000;

/** The calls that limits, targets and measures hold back now, with links to the waiting instances. */
export function HeldCalls() {
  const { t } = useTranslation("limits");
  const [cursor, setCursor] = useState<string | undefined>();
  const query = useQuery({
    queryKey: ["holds", cursor],
    queryFn: ({ signal }) => getHolds({ cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card title={t("held.title")} id="held">
      <PagedTable<HoldView>
        query={query}
        caption={t("held.title")}
        id={(one) => `${one.kind} ${one.name} ${one.lane} ${one.reason}`}
        cursor={cursor}
        onCursor={setCursor}
        empty={<p className="soft">{t("held.none")}</p>}
        columns={[
          { title: t("held.what"), show: (one) => <HoldLine hold={one} /> },
          { title: t("held.lane"), kind: "tight", show: (one) => t(`held.lanes.${one.lane}`) },
          { title: t("held.waiting"), kind: "number", show: (one) => <WaitingLink hold={one} /> },
        ]}
      />
    </Card>
  );
}

function WaitingLink({ hold }: { hold: HoldView }) {
  const { t } = useTranslation("limits");
  return (
    <Link to="/instances" search={waitingFilter(hold)}>
      {t("held.instances", { count: hold.waiting })}
    </Link>
  );
}
