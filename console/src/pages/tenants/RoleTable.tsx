import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getRoles } from "../../api/generated/client";
import type { ActionView } from "../../api/generated/models";
import { DataTable } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { ROLES } from "./roles";

/** The permissions of each role; closed at first, because the table is long. */
export function RoleTable() {
  const { t } = useTranslation("tenants");
  const [open, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ["roles"],
    queryFn: ({ signal }) => getRoles({ signal }),
    enabled: open,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Card title={t("table.title")} id="roles">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t("table.show")}</summary>
        {open && (
          <DataTable<ActionView>
            caption={t("table.title")}
            items={query.data}
            id={(one) => one.action}
            columns={[
              { title: t("table.action"), show: (one) => <code>{one.action}</code> },
              ...ROLES.map((role) => ({
                title: role,
                show: (one: ActionView) =>
                  one.roles.includes(role) ? (
                    <span className="yes" role="img" aria-label={t("table.yes")}>
                      ✓
                    </span>
                  ) : (
                    ""
                  ),
              })),
              { title: t("table.audited"), show: (one: ActionView) => (one.audited ? t("table.yes") : "") },
              { title: t("table.platform"), show: (one: ActionView) => (one.platform ? t("table.yes") : "") },
            ]}
          />
        )}
      </details>
    </Card>
  );
}
