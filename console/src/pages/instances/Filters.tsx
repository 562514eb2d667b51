import { Button, Input, Select } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { When } from "../../parts/When";
import { type Sought, STATES } from "./sought";

/** What to look for. Words count when they are sent with Enter, choices at once; a new filter begins at its first page. */
export function Filters({ sought, onChange }: { sought: Sought; onChange: (next: Sought) => void }) {
  const { t } = useTranslation(["instances", "states", "frame"]);
  const change = (part: Partial<Sought>) => onChange({ ...sought, ...part, cursor: undefined });
  return (
    <search className="filters">
      <Word label={t("filters.key")} value={sought.key} onSend={(key) => change({ key })} />
      <Word label={t("filters.job")} value={sought.job} onSend={(job) => change({ job })} />
      <Select
        aria-label={t("filters.state")}
        placeholder={t("filters.state")}
        className="wide"
        mode="multiple"
        allowClear
        value={sought.state ?? []}
        options={STATES.map((value) => ({ value, label: t(`states:${value}`) }))}
        onChange={(state) => change({ state: state.length > 0 ? state : undefined })}
      />
      <When label={t("filters.since")} value={sought.since} onChange={(since) => change({ since })} />
      <When label={t("filters.until")} value={sought.until} onChange={(until) => change({ until })} />
      <Button onClick={() => onChange({})}>{t("filters.clear")}</Button>
    </search>
  );
}

/** A word to look for. */
export function Word({ label, value, onSend }: WordProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  return (
    <Input
      aria-label={label}
      placeholder={label}
      className="short"
      allowClear
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        if (event.target.value === "" && value) onSend(undefined);
      }}
      onPressEnter={() => onSend(text.trim() || undefined)}
      onBlur={() => (text.trim() || undefined) !== value && onSend(text.trim() || undefined)}
    />
  );
}

interface WordProps {
  label: string;
  value: string | undefined;
  onSend: (value: string | undefined) => void;
}
