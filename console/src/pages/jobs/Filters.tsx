import { useNavigate, useSearch } from "@tanstack/react-router";
import { Input, Select } from "antd";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

const STATUSES = ["ACTIVE", "PAUSED", "COMPLETED"] as const;
const PAUSE_MS = 200;

/** What the list is narrowed to. It stands in the address; what is being typed waits for a pause. */
export function Filters() {
  const { t } = useTranslation(["jobs", "states"]);
  const search = useSearch({ from: "/jobs" });
  const navigate = useNavigate();
  const narrow = (more: Partial<typeof search>) =>
    navigate({ to: "/jobs", search: { ...search, ...more, cursor: undefined }, replace: true });
  return (
    <search className="filters">
      <Typed name={t("filter.prefix")} value={search.prefix ?? ""} tell={(prefix) => narrow({ prefix })} />
      <Typed name={t("filter.label")} value={search.label ?? ""} tell={(label) => narrow({ label })} />
      <Select
        aria-label={t("filter.status")}
        className="status"
        allowClear
        placeholder={t("filter.status")}
        value={search.status}
        options={STATUSES.map((status) => ({ value: status, label: t(`states:${status}`) }))}
        onChange={(status?: string) => narrow({ status })}
      />
    </search>
  );
}

function Typed({ name, value, tell }: { name: string; value: string; tell: (value?: string) => void }) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <Input
      aria-label={name}
      placeholder={name}
      allowClear
      className="typed"
      value={text}
      onChange={(event) => {
        const told = event.target.value;
        setText(told);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => tell(told || undefined), PAUSE_MS);
      }}
    />
  );
}
