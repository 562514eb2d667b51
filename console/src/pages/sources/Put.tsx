import { useQueryClient } from "@tanstack/react-query";
import { AutoComplete } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../api/call";
import { putSourcesTypeName } from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import { ChoiceField, NumberField, TextField } from "../../parts/Fields";
import { useOneKey } from "../../parts/useOneKey";
import { useTypes } from "../tasks/types";
import { type Draft, draftOf, EMPTY, KINDS, specOf } from "./draft";

const ORPHANS = ["keep", "cancel"] as const;

/** Where the tasks of a type are listed from now on: a new source, or another version of the one that is there. */
export function Put({ base, onClose }: { base?: SourceView; onClose: () => void }) {
  const { t } = useTranslation("sources");
  const key = useOneKey();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOf(base) : EMPTY));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const cancels = draft.orphans === "cancel";
  return (
    <Confirm
      title={base ? t("put.change", { type: base.type }) : t("put.open")}
      verb={t("put.verb")}
      effect={[
        draft.kind === "push" ? t("put.pushed") : t("put.now"),
        t("put.repairs"),
        cancels ? t("put.cancels", { count: draft.most_cancelled }) : t("put.keeps"),
      ]}
      act={async () => {
        await putSourcesTypeName(draft.type, specOf(draft, base), once(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    >
      {!base && <Type value={draft.type} onChange={(type) => change({ type })} />}
      <ChoiceField
        label={t("columns.kind")}
        help={t(`kindHelp.${draft.kind}`)}
        value={draft.kind}
        choices={KINDS}
        name={(kind) => t(`kind.${kind}`)}
        onChange={(kind) => change({ kind })}
      />
      <Origin draft={draft} change={change} />
      <Rules draft={draft} change={change} />
    </Confirm>
  );
}

interface PartProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

function Type({ value, onChange }: { value: string; onChange: (type: string) => void }) {
  const { t } = useTranslation("sources");
  const types = useTypes().data ?? [];
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

/** Where the list is. */
function Origin({ draft, change }: PartProps) {
  const { t } = useTranslation("sources");
  const secret = (name: "signing" | "dsn" | "ca") => (
    <TextField
      label={t(name)}
      help={t("secretHelp")}
      value={draft[name]}
      onChange={(told) => change({ [name]: told })}
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

/** How often, and what may be done about what differs. */
function Rules({ draft, change }: PartProps) {
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
