import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getAuditSeal } from "../../api/generated/client";
import type { SealView } from "../../api/generated/models";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { Rows } from "../../parts/Rows";
import { Trouble } from "../../parts/Trouble";

/** How far the log of each cell is sealed, for the platform's own people. */
export function Seal() {
  const { t } = useTranslation("audit");
  const asked = useQuery({ queryKey: ["seal"], queryFn: ({ signal }) => getAuditSeal({ signal }) });
  return (
    <Card title={t("seal.title")} id="seal">
      {asked.error ? (
        <Trouble error={asked.error} />
      ) : (
        <Rows<SealView>
          caption={t("seal.title")}
          items={asked.data}
          id={(one) => one.cell}
          columns={[
            { title: t("seal.cell"), show: (one) => one.cell },
            { title: t("seal.block"), kind: "number", show: (one) => one.block },
            { title: t("seal.at"), kind: "tight", show: (one) => <Moment at={one.sealed_at} /> },
            { title: t("seal.hash"), show: (one) => <code>{one.hash}</code> },
          ]}
        />
      )}
    </Card>
  );
}
