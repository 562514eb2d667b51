import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../api/call";
import { getRoleBindings, putRoleBindingsPrincipal } from "../../api/generated/client";
import type { BindingView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import { Found } from "../../parts/Found";
import { Card } from "../../parts/Page";
import { useOneKey } from "../../parts/useOneKey";
import { Roles } from "./NewKey";

/** Who has which roles: keys, people and groups. */
export function Bindings() {
  const { t } = useTranslation("tenants");
  const [cursor, go] = useState<string | undefined>();
  const [chosen, choose] = useState<BindingView | null>(null);
  const asked = useQuery({
    queryKey: ["bindings", cursor],
    queryFn: ({ signal }) => getRoleBindings({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("bindings.title")} id="bindings">
      <div className="card-acts">
        <Act action="bindings.put" onClick={() => choose({ principal: "", roles: [] })}>
          {t("bindings.create")}
        </Act>
      </div>
      {chosen && <Bind chosen={chosen} onClose={() => choose(null)} />}
      <Found<BindingView>
        asked={asked}
        caption={t("bindings.title")}
        id={(one) => one.principal}
        cursor={cursor}
        go={go}
        columns={[
          { title: t("bindings.principal"), show: (one) => <code>{one.principal}</code> },
          { title: t("roles.label"), show: (one) => one.roles.join(", ") || t("roles.none") },
          {
            title: t("bindings.acts"),
            kind: "tight",
            show: (one) => (
              <Act
                action="bindings.put"
                size="small"
                aria-label={t("bindings.changeOf", { principal: one.principal })}
                onClick={() => choose(one)}
              >
                {t("bindings.change")}
              </Act>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Bind({ chosen, onClose }: { chosen: BindingView; onClose: () => void }) {
  const { t } = useTranslation("tenants");
  const [principal, setPrincipal] = useState(chosen.principal);
  const [roles, setRoles] = useState(chosen.roles);
  const key = useOneKey();
  const queries = useQueryClient();
  const who = principal || "…";
  return (
    <Confirm
      title={t("bindings.create")}
      verb={t("bindings.verb")}
      effect={[
        roles.length > 0
          ? t("bindings.gets", { who, roles: roles.join(", ") })
          : t("bindings.loses", { who }),
        t("bindings.instead"),
        t("bindings.soon"),
      ]}
      act={async () => {
        await putRoleBindingsPrincipal(principal.trim(), { roles }, once(key));
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
        {(id) => <Roles id={id} value={roles} onChange={setRoles} />}
      </Field>
    </Confirm>
  );
}
