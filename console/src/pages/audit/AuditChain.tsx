import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getAuditChain } from "../../api/generated/client";
import type { AuditChainView } from "../../api/generated/models";
import { DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";

/** The hash chain of the audit log: the last block of each cell. Platform users see it. */
export function AuditChain() {
  const { t } = useTranslation("audit");
  const query = useQuery({ queryKey: ["audit-chain"], queryFn: ({ signal }) => getAuditChain({ signal }) });
  return (
    <Card title={t("chain.title")} id="chain">
      {query.error ? (
        <ErrorMessage error={query.error} />
      ) : (
        <DataTable<AuditChainView>
          caption={t("chain.title")}
          items={query.data}
          id={(chain) => chain.cell}
          columns={[
            { title: t("chain.cell"), show: (chain) => chain.cell },
            { title: t("chain.block"), kind: "number", show: (chain) => chain.block },
            { title: t("chain.at"), kind: "tight", show: (chain) => <Timestamp at={chain.chained_at} /> },
            { title: t("chain.hash"), show: (chain) => <code>{chain.hash}</code> },
          ]}
        />
      )}
    </Card>
  );
}
