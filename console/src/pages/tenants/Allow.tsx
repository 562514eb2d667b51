import { useQueryClient } from "@tanstack/react-query";
import { Button, Input, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putTenantAllowance } from "../../api/generated/client";
import type { Allowance, Limit, TenantView } from "../../api/generated/models";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import "./tenants.css";

interface Quota {
  number: number;
  name: string;
  limit: Limit;
}

/** What a tenant may use, as a form. What the form does not show stays as it is. */
export function Allow({ one, onClose }: { one: TenantView; onClose: () => void }) {
  const { t } = useTranslation("tenants");
  const [told, setTold] = useState<Allowance>(one.allowance);
  const [quotas, setQuotas] = useState<Quota[]>(() => listed(one.allowance));
  const queries = useQueryClient();
  const change = (part: Partial<Allowance>) => setTold({ ...told, ...part });
  const put = (quota: Quota) =>
    setQuotas(quotas.map((each) => (each.number === quota.number ? quota : each)));
  const add = () => setQuotas([...quotas, { number: Date.now(), name: "", limit: {} }]);
  const named = quotas.filter((each) => each.name.trim());
  return (
    <Confirm
      title={t("allowance.change")}
      verb={t("allowance.verb")}
      effect={[t("allow.first", { name: one.name }), t("allow.second"), t("allow.third")]}
      act={async () => {
        const limits = Object.fromEntries(named.map((each) => [each.name.trim(), each.limit]));
        await putTenantAllowance(one.name, { ...told, quotas: limits });
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
            value={told.weight}
            onChange={(weight) => change({ weight: weight ?? 1 })}
          />
        )}
      </Field>
      <Of label={t("allowance.limit")} limit={told.limit} onChange={(limit) => change({ limit })} />
      <Of label={t("allowance.retries")} limit={told.retries} onChange={(retries) => change({ retries })} />
      <Of
        label={t("allowance.requests")}
        limit={told.requests}
        onChange={(requests) => change({ requests })}
      />
      <h3>{t("allow.quotas")}</h3>
      {quotas.map((quota) => (
        <div key={quota.number}>
          <Input
            aria-label={t("allow.quotaName")}
            placeholder={t("allow.quotaName")}
            value={quota.name}
            onChange={(event) => put({ ...quota, name: event.target.value })}
          />
          <Of label={quota.name || "…"} limit={quota.limit} onChange={(limit) => put({ ...quota, limit })} />
        </div>
      ))}
      <Button size="small" onClick={add}>
        {t("allow.add")}
      </Button>
    </Confirm>
  );
}

function listed(allowance: Allowance): Quota[] {
  return Object.entries(allowance.quotas ?? {}).map(([name, limit], number) => ({
    number,
    name,
    limit: limit as Limit,
  }));
}

/** The three numbers of a limit; empty ones bind nothing. */
function Of({
  label,
  limit,
  onChange,
}: {
  label: string;
  limit: Limit | null | undefined;
  onChange: (limit: Limit) => void;
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
