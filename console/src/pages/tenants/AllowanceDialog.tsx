import { useQueryClient } from "@tanstack/react-query";
import { Button, Input, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putTenantAllowance } from "../../api/generated/client";
import type { AllowanceSpec, LimitSpec, TenantView } from "../../api/generated/models";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Field } from "../../parts/Field";
import "./tenants.css";

interface Quota {
  number: number;
  name: string;
  limit: LimitSpec;
}

/** Changes the allowance of a tenant. Fields that the form does not show are kept. */
export function AllowanceDialog({ one, onClose }: { one: TenantView; onClose: () => void }) {
  const { t } = useTranslation("tenants");
  const [draft, setDraft] = useState<AllowanceSpec>(one.allowance);
  const [quotas, setQuotas] = useState<Quota[]>(() => quotasOf(one.allowance));
  const queries = useQueryClient();
  const change = (part: Partial<AllowanceSpec>) => setDraft({ ...draft, ...part });
  const replaceQuota = (quota: Quota) =>
    setQuotas(quotas.map((each) => (each.number === quota.number ? quota : each)));
  const addQuota = () => setQuotas([...quotas, { number: Date.now(), name: "", limit: {} }]);
  const namedQuotas = quotas.filter((each) => each.name.trim());
  return (
    <ConfirmDialog
      title={t("allowance.change")}
      verb={t("allowance.verb")}
      effect={[t("allow.first", { name: one.name }), t("allow.second"), t("allow.third")]}
      onConfirm={async () => {
        const limits = Object.fromEntries(namedQuotas.map((each) => [each.name.trim(), each.limit]));
        await putTenantAllowance(one.name, { ...draft, quotas: limits });
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      <Field label={t("allowance.weight")} help={t("allow.weight")}>
        {(id) => (
          <InputNumber
            id={id}
            min={1}
            max={1000}
            precision={0}
            value={draft.weight}
            onChange={(weight) => change({ weight: weight ?? 1 })}
          />
        )}
      </Field>
      <LimitFields label={t("allowance.limit")} limit={draft.limit} onChange={(limit) => change({ limit })} />
      <LimitFields
        label={t("allowance.retries")}
        limit={draft.retries}
        onChange={(retries) => change({ retries })}
      />
      <LimitFields
        label={t("allowance.requests")}
        limit={draft.requests}
        onChange={(requests) => change({ requests })}
      />
      <h3>{t("allow.quotas")}</h3>
      {quotas.map((quota) => (
        <div key={quota.number}>
          <Input
            aria-label={t("allow.quotaName")}
            placeholder={t("allow.quotaName")}
            value={quota.name}
            onChange={(event) => replaceQuota({ ...quota, name: event.target.value })}
          />
          <LimitFields
            label={quota.name || "…"}
            limit={quota.limit}
            onChange={(limit) => replaceQuota({ ...quota, limit })}
          />
        </div>
      ))}
      <Button size="small" onClick={addQuota}>
        {t("allow.add")}
      </Button>
    </ConfirmDialog>
  );
}

function quotasOf(allowance: AllowanceSpec): Quota[] {
  return Object.entries(allowance.quotas ?? {}).map(([name, limit], number) => ({
    number,
    name,
    limit: limit as LimitSpec,
  }));
}

/** The three numbers of a limit; an empty number sets no limit. */
function LimitFields({
  label,
  limit,
  onChange,
}: {
  label: string;
  limit: LimitSpec | null | undefined;
  onChange: (limit: LimitSpec) => void;
}) {
  const { t } = useTranslation("tenants");
  const parts = ["rate", "burst", "concurrency"] as const;
  return (
    <fieldset className="plain">
      <legend className="soft">{label}</legend>
      <div className="limit">
        {parts.map((part) => (
          <InputNumber
            key={part}
            min={part === "concurrency" ? 1 : 0.001}
            aria-label={`${label}: ${t(`limit.word.${part}`)}`}
            placeholder={t(`limit.word.${part}`)}
            value={limit?.[part] ?? null}
            onChange={(value) => onChange({ ...limit, [part]: value })}
          />
        ))}
      </div>
    </fieldset>
  );
}
