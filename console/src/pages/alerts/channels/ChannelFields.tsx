import { useQuery } from "@tanstack/react-query";
import { AutoComplete } from "antd";
import { useTranslation } from "react-i18next";
import { getSecrets } from "../../../api/generated/client";
import { useIsPermitted } from "../../../app/permissions";
import { Field } from "../../../parts/Field";
import { ChoiceField, TextField } from "../../../parts/Fields";
import { type Draft, FIELDS, type FieldName, isOptional, KINDS, LANGUAGES, SECRETS, withKind } from "./draft";

const MAX_SECRETS = 200;

interface FieldsProps {
  draft: Draft;
  onChange: (draft: Draft) => void;
}

/** The fields of a channel, by its kind. */
export function ChannelFields({ draft, onChange }: FieldsProps) {
  const { t } = useTranslation("alertSettings");
  return (
    <>
      <ChoiceField
        label={t("channels.kindLabel")}
        help={t(`channels.kindHelp.${draft.kind}`)}
        value={draft.kind}
        choices={KINDS}
        name={(kind) => t(`channels.kind.${kind}`)}
        onChange={(kind) => onChange(withKind(draft, kind))}
      />
      {FIELDS[draft.kind].map((field) => (
        <ChannelField key={field} field={field} draft={draft} onChange={onChange} />
      ))}
      <ChoiceField
        label={t("channels.language")}
        value={draft.language}
        choices={LANGUAGES}
        name={(language) => t(`channels.languages.${language}`)}
        onChange={(language) => onChange({ ...draft, language })}
      />
    </>
  );
}

function ChannelField({ field, draft, onChange }: FieldsProps & { field: FieldName }) {
  const { t } = useTranslation("alertSettings");
  const props = {
    label: t(`channels.form.${field}`),
    value: draft[field],
    onChange: (value: string) => onChange({ ...draft, [field]: value }),
  };
  if (SECRETS.has(field))
    return (
      <SecretField
        {...props}
        help={t(isOptional(draft.kind, field) ? "channels.optionalSecretHelp" : "channels.secretHelp")}
      />
    );
  if (field === "to") return <TextField {...props} rows={3} />;
  if (draft.kind === "pagerduty") return <TextField {...props} help={t("channels.pagerdutyHelp")} />;
  if (draft.kind === "alertmanager") return <TextField {...props} help={t("channels.alertmanagerHelp")} />;
  return <TextField {...props} />;
}

/** The name of a secret. It is chosen from the list by those who may see it, and typed by others. */
function SecretField({ label, help, value, onChange }: SecretFieldProps) {
  const query = useQuery({
    queryKey: ["secrets"],
    queryFn: ({ signal }) => getSecrets({ limit: MAX_SECRETS }, { signal }),
    enabled: useIsPermitted("secrets.list"),
  });
  const names = (query.data?.items ?? []).map((secret) => secret.name);
  return (
    <Field label={label} help={help}>
      {(id) => (
        <AutoComplete
          id={id}
          className="full"
          value={value}
          showSearch={{ filterOption: (text, option) => String(option?.value).includes(text) }}
          options={names.map((name) => ({ value: name }))}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

interface SecretFieldProps {
  label: string;
  help: string;
  value: string;
  onChange: (value: string) => void;
}
