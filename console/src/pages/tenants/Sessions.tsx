import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteSession, getSessions } from "../../api/generated/client";
import type { SessionView } from "../../api/generated/models";
import { useMe } from "../../app/session";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";

/** Who is logged in to this tenant. */
export function Sessions() {
  const { t } = useTranslation("tenants");
  const [cursor, go] = useState<string | undefined>();
  const asked = useQuery({
    queryKey: ["sessions", cursor],
    queryFn: ({ signal }) => getSessions({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("sessions.title")} id="sessions">
      <Found<SessionView>
        asked={asked}
        caption={t("sessions.title")}
        id={(one) => one.id}
        cursor={cursor}
        go={go}
        columns={[
          { title: t("sessions.who"), show: (one) => one.name },
          { title: t("bindings.principal"), show: (one) => <code>{one.principal}</code> },
          { title: t("sessions.since"), kind: "tight", show: (one) => <Moment at={one.created_at} /> },
          { title: t("sessions.seen"), kind: "tight", show: (one) => <Moment at={one.seen_at} /> },
          { title: t("sessions.ends"), kind: "tight", show: (one) => <Moment at={one.expires_at} /> },
          { title: t("bindings.acts"), kind: "tight", show: (one) => <End one={one} /> },
        ]}
      />
    </Card>
  );
}

function End({ one }: { one: SessionView }) {
  const { t } = useTranslation("tenants");
  const [asking, ask] = useState(false);
  const queries = useQueryClient();
  const mine = useMe().me?.session?.id === one.id;
  if (mine) return <span className="soft">{t("sessions.mine")}</span>;
  return (
    <>
      <Act action="sessions.revoke" size="small" danger onClick={() => ask(true)}>
        {t("sessions.verb")}
      </Act>
      {asking && (
        <Confirm
          title={t("sessions.ask", { name: one.name })}
          verb={t("sessions.verb")}
          danger
          effect={[t("sessions.first"), t("sessions.second")]}
          act={async () => {
            await deleteSession(one.id);
            await queries.invalidateQueries();
          }}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}
