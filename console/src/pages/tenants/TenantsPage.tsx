import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useIsPermitted } from "../../app/permissions";
import { Page } from "../../parts/Page";
import { Bindings } from "./Bindings";
import { Keys } from "./Keys";
import { OwnTenant } from "./OwnTenant";
import { RoleTable } from "./RoleTable";
import { Sessions } from "./Sessions";

/** The tenant of the session: allowance, API keys, role bindings, sessions and roles. */
export function TenantsPage() {
  const { t } = useTranslation("tenants");
  const platform = useIsPermitted("tenants.list");
  return (
    <Page title={t("title")} actions={platform && <Link to="/tenants/all">{t("all.link")}</Link>}>
      <OwnTenant />
      {useIsPermitted("keys.list") && <Keys />}
      {useIsPermitted("bindings.list") && <Bindings />}
      {useIsPermitted("sessions.list") && <Sessions />}
      {useIsPermitted("roles.read") && <RoleTable />}
    </Page>
  );
}
