import { useTranslation } from "react-i18next";
import { messageOf } from "../../app/health/state";
import { useHealth } from "../../app/health/useHealth";
import { Card } from "../../parts/Page";
import { ago, duration } from "../../parts/times";
import { figuresOf } from "./figures";

/** The health in one sentence with its figures; the last known ones while the server does not answer. */
export function CurrentHealth() {
  const { t, i18n } = useTranslation(["overview", "health"]);
  const health = useHealth();
  const message = messageOf(health);
  const items = figuresOf(health.summary);
  return (
    <Card title={t("now.title")}>
      <p className="sentence">{t(`health:${message.key}`, { ...message })}</p>
      <dl className="figures">
        {items.map((one) => (
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
