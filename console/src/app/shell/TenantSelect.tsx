import { App, Select } from "antd";
import { useTranslation } from "react-i18next";
import type { Me } from "../../api/generated/models";
import { selectTenant } from "../session";

/** The tenant of the session, and a list to select another. */
export function TenantSelect({ me }: { me: Me }) {
  const { t } = useTranslation("frame");
  const { message } = App.useApp();
  if (me.tenants.length < 2) return <span className="tenant">{t("tenant.one", { tenant: me.tenant })}</span>;
  return (
    <Select
      aria-label={t("tenant.label")}
      className="tenant"
      value={me.tenant}
      showSearch
      popupMatchSelectWidth={false}
      options={me.tenants.map((name) => ({ value: name, label: name }))}
      onChange={(tenant) => selectTenant(tenant).catch((error: Error) => message.error(error.message))}
    />
  );
}
