import { Button, Select } from "antd";
import { useTranslation } from "react-i18next";
import { DateTimeInput } from "../../parts/DateTimeInput";
import { TextFilter } from "../../parts/TextFilter";
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
