import { useNavigate, useSearch } from "@tanstack/react-router";
import { Input, Select } from "antd";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { isOrder, ORDERS } from "./routes";

const STATUSES = ["ACTIVE", "PAUSED", "COMPLETED"] as const;
const DEBOUNCE_MS = 200;

/** The filters and the order of the jobs; they are part of the address. Typed text applies after a short pause. */
export function FilterBar() {
  const { t } = useTranslation(["jobs", "states"]);
  const search = useSearch({ from: "/jobs" });
  const navigate = useNavigate();
  const applyFilters = (more: Partial<typeof search>) =>
    navigate({ to: "/jobs", search: { ...search, ...more, cursor: undefined }, replace: true });
  return (
    <search className="filters">
      <DebouncedFilter
        name={t("filter.contains")}
        value={search.contains ?? ""}
        onChange={(contains) => applyFilters({ contains })}
      />
      {search.prefix !== undefined && (
        <DebouncedFilter
          name={t("filter.prefix")}
          value={search.prefix}
          onChange={(prefix) => applyFilters({ prefix })}
        />
      )}
      <DebouncedFilter
        name={t("filter.label")}
        value={search.label ?? ""}
        onChange={(label) => applyFilters({ label })}
      />
      <DebouncedFilter
        name={t("filter.owner")}
        value={search.owner ?? ""}
        onChange={(owner) => applyFilters({ owner })}
      />
      <Select
        aria-label={t("filter.status")}
        className="status"
        allowClear
        placeholder={t("filter.status")}
        value={search.status}
        options={STATUSES.map((status) => ({ value: status, label: t(`states:${status}`) }))}
        onChange={(status?: string) => applyFilters({ status })}
      />
      <Select
        aria-label={t("order.title")}
        className="order"
        value={search.order ?? "name"}
        options={(["name", ...ORDERS] as const).map((order) => ({
          value: order,
          label: t(`order.${order}`),
        }))}
        onChange={(order: string) => applyFilters({ order: isOrder(order) ? order : undefined })}
      />
    </search>
  );
}

function DebouncedFilter({
  name,
  value,
  onChange,
}: {
  name: string;
  value: string;
  onChange: (value?: string) => void;
}) {
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
        const typed = event.target.value;
        setText(typed);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(typed || undefined), DEBOUNCE_MS);
      }}
    />
  );
}
