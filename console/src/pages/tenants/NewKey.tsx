import { useQueryClient } from "@tanstack/react-query";
import { Button, Input, Modal, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { MadeKey, NewKey as Told } from "../../api/generated/models";
import { Field } from "../../parts/Field";
import { Line } from "../../parts/Line";
import { Trouble } from "../../parts/Trouble";
import { When } from "../../parts/When";
import { ROLES } from "./roles";
import "./tenants.css";

type Role = (typeof ROLES)[number];

/** A form for a key; afterwards its text, once. */
export function NewKey({ make, onClose }: { make: (told: Told) => Promise<MadeKey>; onClose: () => void }) {
  const { t } = useTranslation(["tenants", "frame"]);
  const [told, setTold] = useState<Told>({ name: "", roles: [] });
  const [made, setMade] = useState<MadeKey | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const change = (part: Partial<Told>) => setTold({ ...told, ...part });
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      setMade(await make(told));
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
      {made ? (
        <div className="once" role="status">
          <p>
            <strong>{t("keys.once")}</strong>
          </p>
          <Line text={made.key} />
          <Button onClick={onClose}>{t("keys.kept")}</Button>
        </div>
      ) : (
        <>
          <Field label={t("keys.name")}>
            {(id) => (
              <Input
                id={id}
                value={told.name}
                maxLength={120}
                onChange={(event) => change({ name: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("roles.label")} help={t("roles.help")}>
            {(id) => <Roles id={id} value={told.roles as Role[]} onChange={(roles) => change({ roles })} />}
          </Field>
          <Field label={t("keys.scopes")} help={t("keys.scopesHelp")}>
            {(id) => (
              <Select
                id={id}
                mode="tags"
                className="full"
                open={false}
                suffixIcon={null}
                value={told.scopes ?? []}
                onChange={(scopes: string[]) => change({ scopes })}
              />
            )}
          </Field>
          <Field label={t("keys.expires")} help={t("keys.expiresHelp")}>
            {(id) => (
              <When
                id={id}
                label={t("keys.expires")}
                value={told.expires_at ?? undefined}
                onChange={(expires_at) => change({ expires_at })}
              />
            )}
          </Field>
          {error !== null && <Trouble error={error} />}
          <Button
            type="primary"
            loading={busy}
            disabled={!told.name || told.roles.length === 0}
            onClick={send}
          >
            {t("keys.make")}
          </Button>
        </>
      )}
    </Modal>
  );
}

/** Some of the roles. */
export function Roles({
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
