import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { useEffect, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { getOwnTenant } from "../../api/generated/client";
import {
  displayZone,
  onZoneChange,
  setTenantZone,
  setZoneChoice,
  ZONE_CHOICES,
  zoneChoice,
  zoneKey,
} from "../../parts/zone";

/** The switch of the time zone in which all times are shown. */
export function ZoneSelect() {
  const { t } = useTranslation("lists");
  useSyncExternalStore(onZoneChange, zoneKey);
  const choice = zoneChoice();
  const tenant = useQuery({
    queryKey: ["own-tenant", "zone"],
    queryFn: ({ signal }) => getOwnTenant({ signal }),
    enabled: choice === "tenant",
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  useEffect(() => {
    if (tenant) setTenantZone(tenant.zone);
  }, [tenant]);
  return (
    <Select
      aria-label={t("zone.label")}
      className="zone"
      value={choice}
      popupMatchSelectWidth={false}
      title={displayZone()}
      options={ZONE_CHOICES.map((value) => ({ value, label: t(`zone.${value}`) }))}
      onChange={setZoneChoice}
    />
  );
}
