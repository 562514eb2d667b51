import { useTranslation } from "react-i18next";
import { summaryOf } from "../../app/health/summary";
import { useHealth } from "../../app/health/useHealth";
import { Card } from "../../parts/Page";
import { ago, duration } from "../../parts/times";

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
      <dl className="figures">
        {figures.map((one) => (
          <div key={one.name} className={`figure tone-${one.tone}`}>
            <dt>{t(`now.${one.name}`)}</dt>
            <dd>{one.ms === undefined ? one.text : duration(one.ms)}</dd>
          </div>
        ))}
      </dl>
      {health.failures > 0 && health.seenAt !== null && (
        <p className="soft">{t("health:last", { when: ago(health.seenAt, Date.now(), i18n.language) })}</p>
      )}
    </Card>
  );
}
