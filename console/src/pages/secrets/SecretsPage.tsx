import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteSecretsName, getSecrets } from "../../api/generated/client";
import type { SecretView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Card, Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Principal } from "../../parts/Principal";
import { Timestamp } from "../../parts/Timestamp";
import { PutSecretDialog } from "./PutSecretDialog";
import { References } from "./References";
import "./secrets.css";

const route = getRouteApi("/secrets");
const EXAMPLE = "horae secret put crm-token --host crm.example.com";

/** The named secrets of the tenant, without their values. */
export function SecretsPage() {
  const { t } = useTranslation("secrets");
  const { cursor, name } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ["secrets", "list", cursor],
    queryFn: ({ signal }) => getSecrets({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t("title")}
      actions={
        <ActionButton action="secrets.put" type="primary" onClick={() => setAdding(true)}>
          {t("put.open")}
        </ActionButton>
      }
    >
      <p className="soft">{t("about")}</p>
      {adding && <PutSecretDialog onClose={() => setAdding(false)} />}
      <PagedTable<SecretView>
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(secret) => secret.name}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("empty.title")} help={t("empty.help")} line={EXAMPLE} />}
      />
      {name && (
        <Card title={t("uses.title", { name })}>
          <References secret={name} />
        </Card>
      )}
    </Page>
  );
}

function useColumns(): Column<SecretView>[] {
  const { t } = useTranslation("secrets");
  const { cursor } = route.useSearch();
  return [
    { title: t("name"), show: (secret) => <code>{secret.name}</code> },
    { title: t("version"), kind: "number", show: (secret) => secret.version },
    { title: t("hosts"), kind: "wide", show: (secret) => secret.hosts.join(", ") || <AnyHost /> },
    { title: t("changedAt"), kind: "tight", show: (secret) => <Timestamp at={secret.changed_at} /> },
    { title: t("changedBy"), show: (secret) => <Principal id={secret.changed_by} /> },
    {
      title: t("uses.column"),
      kind: "tight",
      show: (secret) => (
        <Link to="/secrets" search={{ cursor, name: secret.name }} resetScroll={false}>
          {t("uses.show")}
        </Link>
      ),
    },
    { title: t("actions"), kind: "tight", show: (secret) => <Actions secret={secret} /> },
  ];
}

function AnyHost() {
  const { t } = useTranslation("secrets");
  return <span className="state tone-warn">{t("anyHost")}</span>;
}

function Actions({ secret }: { secret: SecretView }) {
  const { t } = useTranslation("secrets");
  const [open, setOpen] = useState<"put" | "remove" | null>(null);
  const close = () => setOpen(null);
  return (
    <Space size={4}>
      <ActionButton action="secrets.put" size="small" onClick={() => setOpen("put")}>
        {t("put.again")}
      </ActionButton>
      <ActionButton action="secrets.remove" size="small" danger onClick={() => setOpen("remove")}>
        {t("remove")}
      </ActionButton>
      {open === "put" && <PutSecretDialog base={secret} onClose={close} />}
      {open === "remove" && (
        <ConfirmDialog
          title={t("removal.title", { name: secret.name })}
          verb={t("remove")}
          danger
          effect={[t("removal.fails"), t("removal.lost")]}
          onConfirm={async () => {
            await deleteSecretsName(secret.name);
            await queries.invalidateQueries({ queryKey: ["secrets"] });
          }}
          onClose={close}
        >
          <h3 className="soft">{t("uses.title", { name: secret.name })}</h3>
          <References secret={secret.name} />
        </ConfirmDialog>
      )}
    </Space>
  );
}
