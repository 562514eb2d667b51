import { useTranslation } from "react-i18next";
import { sentence } from "../../app/health/machine";
import { useHealth } from "../../app/health/useHealth";
import { Card } from "../../parts/Page";
import { ago, duration } from "../../parts/times";
import { figures } from "./figures";

/** The health sentence and the numbers behind it; the last ones when no new ones come. */
export function Now() {
  const { t, i18n } = useTranslation(["overview", "health"]);
  const health = useHealth();
  const said = sentence(health);
  const shown = figures(health.summary);
  return (
    <Card title={t("now.title")}>
      <p className="said">{t(`health:${said.key}`, { ...said })}</p>
      <dl className="figures">
        {shown.map((one) => (
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
