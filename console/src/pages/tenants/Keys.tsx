import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteKeysKeyId, getKeys, postKeys } from "../../api/generated/client";
import type { KeyView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { NewKey } from "./NewKey";

/** The keys of a tenant: without what proves them, which is shown once. */
export function Keys() {
  const { t } = useTranslation("tenants");
  const [cursor, go] = useState<string | undefined>();
  const [making, setMaking] = useState(false);
  const asked = useQuery({
    queryKey: ["keys", cursor],
    queryFn: ({ signal }) => getKeys({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("keys.title")} id="keys">
      <div className="card-acts">
        <Act action="keys.create" onClick={() => setMaking(true)}>
          {t("keys.create")}
        </Act>
      </div>
      {making && <NewKey make={postKeys} onClose={() => setMaking(false)} />}
      <Found<KeyView>
        asked={asked}
        caption={t("keys.title")}
        id={(one) => one.id}
        cursor={cursor}
        go={go}
        columns={[
          { title: t("keys.name"), show: (one) => one.name },
          { title: t("keys.id"), show: (one) => <code>{one.id}</code> },
          { title: t("keys.scopes"), show: (one) => one.scopes.join(", ") || t("keys.unscoped") },
          { title: t("keys.used"), kind: "tight", show: (one) => <Moment at={one.last_used_at} /> },
          { title: t("keys.expires"), kind: "tight", show: (one) => <Moment at={one.expires_at} /> },
          { title: t("keys.state"), kind: "tight", show: (one) => <Revoke one={one} /> },
        ]}
      />
    </Card>
  );
}

function Revoke({ one }: { one: KeyView }) {
  const { t } = useTranslation("tenants");
  const [asking, ask] = useState(false);
  const queries = useQueryClient();
  if (one.revoked_at)
    return (
      <span className="soft">
        {t("keys.revoked")} <Moment at={one.revoked_at} />
      </span>
    );
  return (
    <>
      <Act
        action="keys.revoke"
        size="small"
        danger
        aria-label={t("revoke.of", { name: one.name })}
        onClick={() => ask(true)}
      >
        {t("revoke.verb")}
      </Act>
      {asking && (
        <Confirm
          title={t("revoke.title", { name: one.name })}
          verb={t("revoke.verb")}
          danger
          effect={[t("revoke.first"), t("revoke.second"), t("revoke.third")]}
          act={async () => {
            await deleteKeysKeyId(one.id);
            await queries.invalidateQueries();
          }}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}
