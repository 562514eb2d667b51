import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteKeysKeyId, getKeys, postKeys } from "../../api/generated/client";
import type { ApiKeyView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";
import { NewKeyDialog } from "./NewKeyDialog";

/** The API keys of a tenant, without their secrets, which are shown only once. */
export function Keys() {
  const { t } = useTranslation("tenants");
  const [cursor, setCursor] = useState<string | undefined>();
  const [creating, setCreating] = useState(false);
  const query = useQuery({
    queryKey: ["keys", cursor],
    queryFn: ({ signal }) => getKeys({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("keys.title")} id="keys">
      <div className="card-actions">
        <ActionButton action="keys.create" onClick={() => setCreating(true)}>
          {t("keys.create")}
        </ActionButton>
      </div>
      {creating && <NewKeyDialog create={postKeys} onClose={() => setCreating(false)} />}
      <PagedTable<ApiKeyView>
        query={query}
        caption={t("keys.title")}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={setCursor}
        columns={[
          { title: t("keys.name"), show: (one) => one.name },
          { title: t("keys.id"), show: (one) => <code>{one.id}</code> },
          { title: t("keys.scopes"), show: (one) => one.scopes.join(", ") || t("keys.unscoped") },
          { title: t("keys.used"), kind: "tight", show: (one) => <Timestamp at={one.last_used_at} /> },
          { title: t("keys.expires"), kind: "tight", show: (one) => <Timestamp at={one.expires_at} /> },
          { title: t("keys.state"), kind: "tight", show: (one) => <RevokeKey one={one} /> },
        ]}
      />
    </Card>
  );
}

function RevokeKey({ one }: { one: ApiKeyView }) {
  const { t } = useTranslation("tenants");
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  if (one.revoked_at)
    return (
      <span className="soft">
        {t("keys.revoked")} <Timestamp at={one.revoked_at} />
      </span>
    );
  return (
    <>
      <ActionButton
        action="keys.revoke"
        size="small"
        danger
        aria-label={t("revoke.of", { name: one.name })}
        onClick={() => setOpen(true)}
      >
        {t("revoke.verb")}
      </ActionButton>
      {open && (
        <ConfirmDialog
          title={t("revoke.title", { name: one.name })}
          verb={t("revoke.verb")}
          danger
          effect={[t("revoke.first"), t("revoke.second"), t("revoke.third")]}
          onConfirm={async () => {
            await deleteKeysKeyId(one.id);
            await queries.invalidateQueries();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
