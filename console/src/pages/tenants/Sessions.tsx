import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteSession, getSessions } from "../../api/generated/client";
import type { SessionView } from "../../api/generated/models";
import { useMe } from "../../app/session";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";

/** The sessions of this tenant. */
export function Sessions() {
  const { t } = useTranslation("tenants");
  const [cursor, setCursor] = useState<string | undefined>();
  const query = useQuery({
    queryKey: ["sessions", cursor],
    queryFn: ({ signal }) => getSessions({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("sessions.title")} id="sessions">
      <PagedTable<SessionView>
        query={query}
        caption={t("sessions.title")}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={setCursor}
        columns={[
          { title: t("sessions.who"), show: (one) => one.name },
          { title: t("bindings.principal"), show: (one) => <code>{one.principal}</code> },
          { title: t("sessions.since"), kind: "tight", show: (one) => <Timestamp at={one.created_at} /> },
          { title: t("sessions.seen"), kind: "tight", show: (one) => <Timestamp at={one.seen_at} /> },
          { title: t("sessions.ends"), kind: "tight", show: (one) => <Timestamp at={one.expires_at} /> },
          { title: t("bindings.actions"), kind: "tight", show: (one) => <EndSession one={one} /> },
        ]}
      />
    </Card>
  );
}

function EndSession({ one }: { one: SessionView }) {
  const { t } = useTranslation("tenants");
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const mine = useMe().me?.session?.id === one.id;
  if (mine) return <span className="soft">{t("sessions.mine")}</span>;
  return (
    <>
      <ActionButton action="sessions.revoke" size="small" danger onClick={() => setOpen(true)}>
        {t("sessions.verb")}
      </ActionButton>
      {open && (
        <ConfirmDialog
          title={t("sessions.ask", { name: one.name })}
          verb={t("sessions.verb")}
          danger
          effect={[t("sessions.first"), t("sessions.second")]}
          onConfirm={async () => {
            await deleteSession(one.id);
            await queries.invalidateQueries();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
