import { useTranslation } from "react-i18next";
import { useHealth } from "./health/useHealth";
import { useMe } from "./session";

/** Whether an action may be done now and, where not, why: to be shown at the button that does it. */
export interface Can {
  allowed: boolean;
  reason: string | undefined;
}

/** `read` actions are asked for without the health: a read-only console still reads. */
export function useCan(action: string): Can {
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

/** Whether something may be seen at all. */
export function useSees(action: string): boolean {
  return useMe().me?.actions.includes(action) ?? false;
}
