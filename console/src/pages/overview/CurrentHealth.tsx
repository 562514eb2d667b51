import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { type HealthFigure, summaryOf } from "../../app/health/summary";
import { useHealth } from "../../app/health/useHealth";
import { useIsPermitted } from "../../app/permissions";
import { Card } from "../../parts/Page";
import { ago, duration } from "../../parts/times";
import { DelayCauses } from "./DelayCauses";
import { FIGURE_LINKS } from "./figure-links";
import { OpenIncident } from "./OpenIncident";

/** The health in one sentence with its other causes and figures; the last known ones while the server does not answer. */
export function CurrentHealth() {
  const { t, i18n } = useTranslation(["overview", "health"]);
  const health = useHealth();
  const { message, tone, causes, figures } = summaryOf(health);
  return (
    <Card title={t("now.title")}>
      <p className={`sentence tone-${tone}`}>{t(`health:${message.key}`, { ...message })}</p>
      {causes
        .filter((cause) => cause !== message)
        .map((cause) => (
          <p key={`${cause.key} ${cause.cell} ${cause.target}`} className="sentence">
            {t(`health:${cause.key}`, { ...cause })}
          </p>
        ))}
      <DelayCauses causes={health.summary?.delayCauses ?? []} />
      <OpenIncident />
      <dl className="figures">
        {figures.map((one) => (
          <div key={one.name} className={`figure tone-${one.tone}`}>
            <dt>{t(`now.${one.name}`)}</dt>
            <dd>
              <FigureValue name={one.name} text={one.ms === undefined ? one.text : duration(one.ms)} />
            </dd>
          </div>
        ))}
      </dl>
      {health.failures > 0 && health.seenAt !== null && (
        <p className="soft">{t("health:last", { when: ago(health.seenAt, Date.now(), i18n.language) })}</p>
      )}
    </Card>
  );
}

/** A figure with a link to the rows that it counts. For the platform it counts all tenants, which no list shows. */
function FigureValue({ name, text }: { name: HealthFigure["name"]; text: string }) {
  const link = FIGURE_LINKS[name];
  const isPlatform = useIsPermitted("nodes.list");
  if (!link || isPlatform) return text;
  return (
    <Link to={link.to as string} search={link.search as never}>
      {text}
    </Link>
  );
}
