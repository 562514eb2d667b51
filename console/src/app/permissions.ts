import { useTranslation } from "react-i18next";
import { useHealth } from "./health/useHealth";
import { useMe } from "./session";

/** Whether an action is allowed now. `reason` is the text for the button of an action that is not. */
export interface Permission {
  allowed: boolean;
  reason: string | undefined;
}

/** Checks the roles and the read-only state. Reading needs the roles only: see `useIsPermitted`. */
export function usePermission(action: string): Permission {
  const { t } = useTranslation("frame");
  const { me } = useMe();
  const readOnly = useHealth().readOnly;
  if (!me?.actions.includes(action)) {
    const roles = me?.roles.join(", ") || t("can.noRole");
    return { allowed: false, reason: t("can.role", { action, roles, tenant: me?.tenant ?? "" }) };
  }
  if (readOnly) return { allowed: false, reason: t("can.readOnly") };
  return { allowed: true, reason: undefined };
}

/** Whether the roles allow an action, also while the console is read-only. */
export function useIsPermitted(action: string): boolean {
  return useMe().me?.actions.includes(action) ?? false;
}
