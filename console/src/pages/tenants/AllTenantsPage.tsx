import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Input, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getTenants, postTenants } from "../../api/generated/client";
import type { NewTenant, TenantView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Field } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";

const route = getRouteApi("/tenants/all");
const WIDTHS = [1, 4, 16, 64, 256, 4096] as const;

/** Every tenant of the platform. */
export function AllTenantsPage() {
  const { t } = useTranslation("tenants");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [creating, setCreating] = useState(false);
  const query = useQuery({
    queryKey: ["tenants", cursor],
    queryFn: ({ signal }) => getTenants({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t("all.title")}
      actions={
        <ActionButton action="tenants.create" type="primary" onClick={() => setCreating(true)}>
          {t("all.create")}
        </ActionButton>
      }
    >
      {creating && <NewTenantDialog onClose={() => setCreating(false)} />}
      <PagedTable<TenantView>
        query={query}
        caption={t("all.title")}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
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

function NewTenantDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation("tenants");
  const [draft, setDraft] = useState<NewTenant>({ name: "", width: 64, zone: "UTC" });
  const queries = useQueryClient();
  const change = (part: Partial<NewTenant>) => setDraft({ ...draft, ...part });
  return (
    <ConfirmDialog
      title={t("all.create")}
      verb={t("all.create")}
      effect={[t("make.first", { name: draft.name || "…" }), t("make.second"), t("make.third")]}
      onConfirm={async () => {
        await postTenants(draft);
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      <Field label={t("fact.name")}>
        {(id) => (
          <Input id={id} value={draft.name} onChange={(event) => change({ name: event.target.value })} />
        )}
      </Field>
      <Field label={t("fact.zone")}>
        {(id) => (
          <Input id={id} value={draft.zone} onChange={(event) => change({ zone: event.target.value })} />
        )}
      </Field>
      <Field label={t("fact.width")} help={t("make.width")}>
        {(id) => (
          <Select
            id={id}
            className="short"
            value={draft.width}
            options={WIDTHS.map((value) => ({ value, label: String(value) }))}
            onChange={(width) => change({ width })}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}
