import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useIsPermitted } from "../../app/permissions";

const VIEWS = [
  { name: "alerts", to: "/alerts", needs: "alerts.list" },
  { name: "channels", to: "/alerts/channels", needs: "alert_channels.list" },
  { name: "rules", to: "/alerts/rules", needs: "alert_rules.list" },
  { name: "silences", to: "/alerts/silences", needs: "silences.list" },
] as const;
type View = (typeof VIEWS)[number];

/** Links between alerts, channels, rules and silences. */
export function Views({ here }: { here: View["name"] }) {
  const { t } = useTranslation("alerts");
  return (
    <nav className="views" aria-label={t("views.label")}>
      {VIEWS.map((view) => (
        <ViewLink key={view.name} view={view} isHere={view.name === here} />
      ))}
    </nav>
  );
}

function ViewLink({ view, isHere }: { view: View; isHere: boolean }) {
  const { t } = useTranslation("alerts");
  if (!useIsPermitted(view.needs)) return null;
  return (
    <Link
      to={view.to as string}
      aria-current={isHere ? "page" : undefined}
      className={isHere ? "view here" : "view"}
    >
      {t(`views.${view.name}`)}
    </Link>
  );
}
