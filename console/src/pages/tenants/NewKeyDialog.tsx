import { useQueryClient } from "@tanstack/react-query";
import { Button, Input, Modal, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { CreatedApiKey, NewApiKey } from "../../api/generated/models";
import { CopyableText } from "../../parts/CopyableText";
import { DateTimeInput } from "../../parts/DateTimeInput";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Field } from "../../parts/Field";
import { ROLES } from "./roles";
import "./tenants.css";

type Role = (typeof ROLES)[number];

/** Creates an API key, and shows it once. */
export function NewKeyDialog({
  create,
  onClose,
}: {
  create: (draft: NewApiKey) => Promise<CreatedApiKey>;
  onClose: () => void;
}) {
  const { t } = useTranslation(["tenants", "frame"]);
  const [draft, setDraft] = useState<NewApiKey>({ name: "", roles: [] });
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const change = (part: Partial<NewApiKey>) => setDraft({ ...draft, ...part });
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      setCreated(await create(draft));
      await queries.invalidateQueries();
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      title={t("keys.create")}
      onCancel={onClose}
      footer={null}
      mask={{ closable: false }}
      destroyOnHidden
    >
      {created ? (
        <div className="once" role="status">
          <p>
            <strong>{t("keys.once")}</strong>
          </p>
          <CopyableText text={created.key} />
          <Button onClick={onClose}>{t("keys.kept")}</Button>
        </div>
      ) : (
        <>
          <Field label={t("keys.name")}>
            {(id) => (
              <Input
                id={id}
                value={draft.name}
                maxLength={120}
                onChange={(event) => change({ name: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("roles.label")} help={t("roles.help")}>
            {(id) => (
              <RolesSelect id={id} value={draft.roles as Role[]} onChange={(roles) => change({ roles })} />
            )}
          </Field>
          <Field label={t("keys.scopes")} help={t("keys.scopesHelp")}>
            {(id) => (
              <Select
                id={id}
                mode="tags"
                className="full"
                open={false}
                suffixIcon={null}
                value={draft.scopes ?? []}
                onChange={(scopes: string[]) => change({ scopes })}
              />
            )}
          </Field>
          <Field label={t("keys.expires")} help={t("keys.expiresHelp")}>
            {(id) => (
              <DateTimeInput
                id={id}
                label={t("keys.expires")}
                value={draft.expires_at ?? undefined}
                onChange={(expires_at) => change({ expires_at })}
              />
            )}
          </Field>
          {error !== null && <ErrorMessage error={error} />}
          <Button
            type="primary"
            loading={busy}
            disabled={!draft.name || draft.roles.length === 0}
            onClick={send}
          >
            {t("keys.make")}
          </Button>
        </>
      )}
    </Modal>
  );
}

/** A field that selects roles. */
export function RolesSelect({
  id,
  value,
  onChange,
}: {
  id: string;
  value: Role[];
  onChange: (roles: Role[]) => void;
}) {
  const { t } = useTranslation("tenants");
  return (
    <Select
      id={id}
      mode="multiple"
      className="full"
      value={value}
      options={ROLES.map((role) => ({ value: role, label: `${role} · ${t(`role.${role}`)}` }))}
      onChange={onChange}
    />
  );
}
