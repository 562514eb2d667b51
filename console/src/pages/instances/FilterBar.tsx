import { Button, Input, Select } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { DateTimeInput } from "../../parts/DateTimeInput";
import { type InstanceFilters, STATES } from "./filters";

/** The filters of the instances. Texts apply on Enter, choices at once; a new filter starts at the first page. */
export function FilterBar({
  filters,
  onChange,
}: {
  filters: InstanceFilters;
  onChange: (next: InstanceFilters) => void;
}) {
  const { t } = useTranslation(["instances", "states", "frame"]);
  const change = (part: Partial<InstanceFilters>) => onChange({ ...filters, ...part, cursor: undefined });
  return (
    <search className="filters">
      <TextFilter label={t("filters.key")} value={filters.key} onSend={(key) => change({ key })} />
      <TextFilter label={t("filters.job")} value={filters.job} onSend={(job) => change({ job })} />
      <Select
        aria-label={t("filters.state")}
        placeholder={t("filters.state")}
        className="wide"
        mode="multiple"
        allowClear
        value={filters.state ?? []}
        options={STATES.map((value) => ({ value, label: t(`states:${value}`) }))}
        onChange={(state) => change({ state: state.length > 0 ? state : undefined })}
      />
      <DateTimeInput
        label={t("filters.since")}
        value={filters.since}
        onChange={(since) => change({ since })}
      />
      <DateTimeInput
        label={t("filters.until")}
        value={filters.until}
        onChange={(until) => change({ until })}
      />
      <Button onClick={() => onChange({})}>{t("filters.clear")}</Button>
    </search>
  );
}

/** A text filter; it applies on Enter or when the field loses the focus. */
export function TextFilter({ label, value, onSend }: TextFilterProps) {
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

interface TextFilterProps {
  label: string;
  value: string | undefined;
  onSend: (value: string | undefined) => void;
}
