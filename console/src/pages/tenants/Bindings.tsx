import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { getRoleBindings, putRoleBindingsPrincipal } from "../../api/generated/client";
import type { RoleBindingView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Field } from "../../parts/Field";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { RolesSelect } from "./NewKeyDialog";

/** The roles of keys, users and groups. */
export function Bindings() {
  const { t } = useTranslation("tenants");
  const [cursor, setCursor] = useState<string | undefined>();
  const [chosen, setChosen] = useState<RoleBindingView | null>(null);
  const query = useQuery({
    queryKey: ["bindings", cursor],
    queryFn: ({ signal }) => getRoleBindings({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("bindings.title")} id="bindings">
      <div className="card-actions">
        <ActionButton action="bindings.put" onClick={() => setChosen({ principal: "", roles: [] })}>
          {t("bindings.create")}
        </ActionButton>
      </div>
      {chosen && <BindingDialog chosen={chosen} onClose={() => setChosen(null)} />}
      <PagedTable<RoleBindingView>
        query={query}
        caption={t("bindings.title")}
        id={(one) => one.principal}
        cursor={cursor}
        onCursor={setCursor}
        columns={[
          { title: t("bindings.principal"), show: (one) => <code>{one.principal}</code> },
          { title: t("roles.label"), show: (one) => one.roles.join(", ") || t("roles.none") },
          {
            title: t("bindings.actions"),
            kind: "tight",
            show: (one) => (
              <ActionButton
                action="bindings.put"
                size="small"
                aria-label={t("bindings.changeOf", { principal: one.principal })}
                onClick={() => setChosen(one)}
              >
                {t("bindings.change")}
              </ActionButton>
            ),
          },
        ]}
      />
    </Card>
  );
}

function BindingDialog({ chosen, onClose }: { chosen: RoleBindingView; onClose: () => void }) {
  const { t } = useTranslation("tenants");
  const [principal, setPrincipal] = useState(chosen.principal);
  const [roles, setRoles] = useState(chosen.roles);
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  const name = principal || "…";
  return (
    <ConfirmDialog
      title={t("bindings.create")}
      verb={t("bindings.verb")}
      effect={[
        roles.length > 0
          ? t("bindings.gets", { who: name, roles: roles.join(", ") })
          : t("bindings.loses", { who: name }),
        t("bindings.instead"),
        t("bindings.soon"),
      ]}
      onConfirm={async () => {
        await putRoleBindingsPrincipal(principal.trim(), { roles }, withIdempotencyKey(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      <Field label={t("bindings.principal")} help={t("bindings.principalHelp")}>
        {(id) => (
          <Input
            id={id}
            value={principal}
            disabled={chosen.principal !== ""}
            onChange={(event) => setPrincipal(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("roles.label")} help={t("roles.help")}>
        {(id) => <RolesSelect id={id} value={roles} onChange={setRoles} />}
      </Field>
    </ConfirmDialog>
  );
}
