import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useHealth } from "../../app/health/useHealth";
import { useIsPermitted } from "../../app/permissions";
import { ago } from "../../parts/times";

/** The open incident in one sentence; a link for platform users. Nothing while no incident is open. */
export function OpenIncident() {
  const { t, i18n } = useTranslation("incidents");
  const isPermitted = useIsPermitted("incidents.read");
  const incident = useHealth().summary?.incident;
  if (!incident) return null;
  const text = t("open", {
    grade: incident.grade,
    when: ago(incident.since, Date.now(), i18n.language),
    step: t(`steps.${incident.step}`),
  });
  return (
    <p className="sentence">
      {isPermitted ? (
        <Link to="/incidents/$incident" params={{ incident: incident.id }}>
          {text}
        </Link>
      ) : (
        text
      )}
    </p>
  );
}
