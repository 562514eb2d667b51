import { lazy, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { ago } from "../../parts/times";
import { useIsPermitted } from "../permissions";
import { useHealth } from "./useHealth";

/** Loaded for admins of the platform only: its dialog is not a part of the first page of everybody. */
const PlatformMeasures = lazy(async () => ({
  default: (await import("./PlatformMeasures")).PlatformMeasures,
}));

/** A banner at the top of every page while protective measures are in force: what each does, since when, and for whom. */
export function MeasureBanner() {
  if (!useIsPermitted("measures.override")) return <MeasuresInForce />;
  return (
    <Suspense fallback={null}>
      <PlatformMeasures />
    </Suspense>
  );
}

/** The measures that concern a tenant. */
function MeasuresInForce() {
  const { t, i18n } = useTranslation("health");
  const measures = useHealth().summary?.measures ?? [];
  if (measures.length === 0) return null;
  return (
    <section className="banner tone-warn" aria-label={t("measures.label")}>
      {measures.map((measure) => (
        <div key={`${measure.scope} ${measure.name}`}>
          {t(`measures.${measure.scope}`, {
            name: measure.name,
            actions: measure.actions.map((action) => t(`measures.${action}`)).join(t("measures.and")),
            when: ago(Date.parse(measure.since), Date.now(), i18n.language),
          })}
        </div>
      ))}
    </section>
  );
}
