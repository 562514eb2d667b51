import { useQueryClient } from "@tanstack/react-query";
import { AutoComplete } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { putSourcesTypeName } from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Field } from "../../parts/Field";
import { ChoiceField, NumberField, TextField } from "../../parts/Fields";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { useTaskTypes } from "../tasks/useTaskTypes";
import { type Draft, draftOf, EMPTY, KINDS, specOf } from "./draft";

const ORPHANS = ["keep", "cancel"] as const;

/** Creates a source, or changes an existing one. */
export function SourceDialog({ base, onClose }: { base?: SourceView; onClose: () => void }) {
  const { t } = useTranslation("sources");
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOf(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const cancels = draft.orphans === "cancel";
  return (
    <ConfirmDialog
      title={base ? t("put.change", { type: base.type }) : t("put.open")}
      verb={t("put.verb")}
      effect={[
        draft.kind === "push" ? t("put.pushed") : t("put.now"),
        t("put.repairs"),
        cancels ? t("put.cancels", { count: draft.most_cancelled }) : t("put.keeps"),
      ]}
      onConfirm={async () => {
        await putSourcesTypeName(draft.type, specOf(draft, base), withIdempotencyKey(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      {!base && <TypeField value={draft.type} onChange={(type) => change({ type })} />}
      <ChoiceField
        label={t("columns.kind")}
        help={t(`kindHelp.${draft.kind}`)}
        value={draft.kind}
        choices={KINDS}
        name={(kind) => t(`kind.${kind}`)}
        onChange={(kind) => change({ kind })}
      />
      <OriginFields draft={draft} change={change} />
      <RuleFields draft={draft} change={change} />
    </ConfirmDialog>
  );
}

interface FieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

function TypeField({ value, onChange }: { value: string; onChange: (type: string) => void }) {
  const { t } = useTranslation("sources");
  const types = useTaskTypes().data ?? [];
  return (
    <Field label={t("columns.type")} help={t("typeHelp")}>
      {(id) => (
        <AutoComplete
          id={id}
          className="full"
          value={value}
          options={types.map((job) => ({ value: job.name }))}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

/** The fields for the origin of the list. */
function OriginFields({ draft, change }: FieldsProps) {
  const { t } = useTranslation("sources");
  const secret = (name: "signing" | "dsn" | "ca") => (
    <TextField
      label={t(name)}
      help={t("secretHelp")}
      value={draft[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
  switch (draft.kind) {
    case "push":
      return null;
    case "http":
      return (
        <>
          <TextField label={t("url")} value={draft.url} onChange={(url) => change({ url })} />
          {secret("signing")}
          {secret("ca")}
        </>
      );
    case "sql":
      return (
        <>
          {secret("dsn")}
          <TextField
            label={t("statement")}
            help={t("statementHelp")}
            rows={4}
            value={draft.statement}
            onChange={(statement) => change({ statement })}
          />
          {secret("ca")}
        </>
      );
  }
}

/** The fields for the interval and the repairs. */
function RuleFields({ draft, change }: FieldsProps) {
  const { t } = useTranslation("sources");
  return (
    <>
      {draft.kind !== "push" && (
        <NumberField
          label={t("everyLabel")}
          min={5}
          max={604_800}
          value={draft.every}
          onChange={(every) => change({ every })}
        />
      )}
      <NumberField
        label={t("grace")}
        help={t("graceHelp")}
        min={0}
        max={86_400}
        value={draft.grace}
        onChange={(grace) => change({ grace })}
      />
      <ChoiceField
        label={t("orphans")}
        value={draft.orphans}
        choices={ORPHANS}
        name={(orphans) => t(`orphan.${orphans}`)}
        onChange={(orphans) => change({ orphans })}
      />
      {draft.orphans === "cancel" && (
        <NumberField
          label={t("mostCancelled")}
          min={1}
          max={1_000_000_000}
          value={draft.most_cancelled}
          onChange={(most_cancelled) => change({ most_cancelled })}
        />
      )}
    </>
  );
}
