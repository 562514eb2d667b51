import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useSees } from "../../app/can";
import { Page } from "../../parts/Page";
import { Bindings } from "./Bindings";
import { Keys } from "./Keys";
import { Own } from "./Own";
import { RoleTable } from "./RoleTable";
import { Sessions } from "./Sessions";

/** The tenant one works in: what it may use, its keys, who may do what in it, and who is logged in. */
export function TenantsPage() {
  const { t } = useTranslation("tenants");
  const platform = useSees("tenants.list");
  return (
    <Page title={t("title")} acts={platform && <Link to="/tenants/all">{t("all.link")}</Link>}>
      <Own />
      {useSees("keys.list") && <Keys />}
      {useSees("bindings.list") && <Bindings />}
      {useSees("sessions.list") && <Sessions />}
      {useSees("roles.read") && <RoleTable />}
    </Page>
  );
}
