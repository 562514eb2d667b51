import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Input, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getTenants, postTenants } from "../../api/generated/client";
import type { NewTenant, TenantView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import { Found } from "../../parts/Found";
import { Page } from "../../parts/Page";

const route = getRouteApi("/tenants/all");
const WIDTHS = [1, 4, 16, 64, 256, 4096] as const;

/** Every tenant of the platform. */
export function AllTenantsPage() {
  const { t } = useTranslation("tenants");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [making, setMaking] = useState(false);
  const asked = useQuery({
    queryKey: ["tenants", cursor],
    queryFn: ({ signal }) => getTenants({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t("all.title")}
      acts={
        <Act action="tenants.create" type="primary" onClick={() => setMaking(true)}>
          {t("all.create")}
        </Act>
      }
    >
      {making && <Make onClose={() => setMaking(false)} />}
      <Found<TenantView>
        asked={asked}
        caption={t("all.title")}
        id={(one) => one.id}
        cursor={cursor}
        go={(next) => void navigate({ search: { cursor: next } })}
        columns={[
          {
            title: t("fact.name"),
            show: (one) => (
              <Link to="/tenants/all/$tenant" params={{ tenant: one.name }}>
                {one.name}
              </Link>
            ),
          },
          { title: t("fact.zone"), show: (one) => one.zone },
          { title: t("fact.width"), kind: "number", show: (one) => one.width },
          { title: t("allowance.weight"), kind: "number", show: (one) => one.allowance.weight },
          { title: t("fact.id"), show: (one) => <code>{one.id}</code> },
        ]}
      />
    </Page>
  );
}

function Make({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation("tenants");
  const [told, setTold] = useState<NewTenant>({ name: "", width: 64, zone: "UTC" });
  const queries = useQueryClient();
  const change = (part: Partial<NewTenant>) => setTold({ ...told, ...part });
  return (
    <Confirm
      title={t("all.create")}
      verb={t("all.create")}
      effect={[t("make.first", { name: told.name || "…" }), t("make.second"), t("make.third")]}
      act={async () => {
        await postTenants(told);
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      <Field label={t("fact.name")}>
        {(id) => (
          <Input id={id} value={told.name} onChange={(event) => change({ name: event.target.value })} />
        )}
      </Field>
      <Field label={t("fact.zone")}>
        {(id) => (
          <Input id={id} value={told.zone} onChange={(event) => change({ zone: event.target.value })} />
        )}
      </Field>
      <Field label={t("fact.width")} help={t("make.width")}>
        {(id) => (
          <Select
            id={id}
            className="short"
            value={told.width}
            options={WIDTHS.map((value) => ({ value, label: String(value) }))}
            onChange={(width) => change({ width })}
          />
        )}
      </Field>
    </Confirm>
  );
}
