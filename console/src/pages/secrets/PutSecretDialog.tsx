import { Checkbox, Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putSecretsName } from "../../api/generated/client";
import type { SecretView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Field } from "../../parts/Field";
import { TextField } from "../../parts/Fields";
import { readLines } from "../../parts/lines";

/**
 * Stores a new value. The value is held by this dialog alone: it goes into no cache, no address and no storage, and is
 * forgotten when the dialog closes.
 */
export function PutSecretDialog({ base, onClose }: { base?: SecretView; onClose: () => void }) {
  const { t } = useTranslation("secrets");
  const [name, setName] = useState(base?.name ?? "");
  const [value, setValue] = useState("");
  const [hasLines, setHasLines] = useState(false);
  const saved = base?.hosts.join("\n") ?? "";
  const [hosts, setHosts] = useState(saved);
  const send = async () => {
    const isKept = base !== undefined && hosts === saved;
    await putSecretsName(name.trim(), { value, hosts: isKept ? null : readLines(hosts) });
    await queries.invalidateQueries({ queryKey: ["secrets"] });
  };
  return (
    <ConfirmDialog
      title={base ? t("put.title", { name: base.name }) : t("put.newTitle")}
      verb={t("put.verb")}
      effect={[base ? t("put.replaces") : t("put.creates"), t("put.writeOnly")]}
      onConfirm={send}
      onClose={onClose}
    >
      {!base && <TextField label={t("name")} help={t("put.nameHelp")} value={name} onChange={setName} />}
      <Field label={t("put.value")} help={hasLines ? t("put.linesHelp") : undefined}>
        {(id) =>
          hasLines ? (
            <Input.TextArea
              id={id}
              rows={5}
              autoComplete="off"
              spellCheck={false}
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          ) : (
            <Input
              id={id}
              type="password"
              autoComplete="new-password"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          )
        }
      </Field>
      <Checkbox
        checked={hasLines}
        onChange={(event) => {
          setHasLines(event.target.checked);
          setValue("");
        }}
      >
        {t("put.lines")}
      </Checkbox>
      <TextField label={t("hosts")} help={t("put.hostsHelp")} rows={2} value={hosts} onChange={setHosts} />
    </ConfirmDialog>
  );
}
