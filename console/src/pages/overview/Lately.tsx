import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { getSchedulerSeries } from "../../api/generated/client";
import type { PointView } from "../../api/generated/models";
import { useHealth } from "../../app/health/useHealth";
import { Chart } from "../../parts/charts/Chart";
import { overTime, type Strand } from "../../parts/charts/options";
import { Card } from "../../parts/Page";
import { Trouble } from "../../parts/Trouble";
import { duration } from "../../parts/times";
import { outdated, sums, written } from "./sums";

const HALF_A_MINUTE = 30_000;

/** The last 24 hours: how late, how many and what came of them, what waited, what was given up. */
export function Lately() {
  const { t } = useTranslation(["overview", "states"]);
  const asked = useQuery({
    queryKey: ["series"],
    queryFn: ({ signal }) => getSchedulerSeries({ hours: 24, points: 96 }, { signal }),
    refetchInterval: HALF_A_MINUTE,
  });
  const { summary } = useHealth();
  const points = asked.data?.points;
  const all = sums(points ?? []);
  const told = written(all);
  const late = outdated(points, summary);
  const { refetch } = asked;
  const fires = summary?.fires10m;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each number that does not fit
  useEffect(() => {
    if (late) refetch();
  }, [late, fires, refetch]);
  if (asked.error && !points)
    return (
      <Card title={t("lately.title")}>
        <Trouble error={asked.error} onAgain={asked.refetch} />
      </Card>
    );
  return (
    <div className="pictures">
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      <Card title={t("lately.delay")}>
        <Over
          points={points}
          kind="line"
          unit="ms"
          label={t("lately.delayTold", { most: duration(all.worstDelay) })}
          strands={[["lately.p95", "busy", (one) => one.triggerDelayP95Ms]]}
        />
      </Card>
      <Card title={t("lately.outcomes")}>
        <Over
          points={points}
          kind="bar"
          label={t("lately.outcomesTold", told)}
          strands={[
            ["states:SUCCESS", "good", (one) => one.success],
            ["states:FAIL", "warn", (one) => one.failed],
            ["states:DEAD", "bad", (one) => one.dead],
            ["states:SKIPPED", "idle", (one) => one.skipped],
          ]}
        />
      </Card>
      <Card title={t("lately.retries")}>
        <Over
          points={points}
          kind="line"
          label={t("lately.retriesTold", { most: told.mostRetries })}
          strands={[["lately.retries", "warn", (one) => one.retryBacklog]]}
        />
      </Card>
      <Card title={t("lately.letters")}>
        <Over
          points={points}
          kind="bar"
          label={t("lately.lettersTold", { dead: told.dead })}
          strands={[["lately.letters", "bad", (one) => one.dead]]}
        />
      </Card>
    </div>
  );
}

type Wanted = [
  name:
    | "lately.p95"
    | "lately.retries"
    | "lately.letters"
    | "states:SUCCESS"
    | "states:FAIL"
    | "states:DEAD"
    | "states:SKIPPED",
  colour: string,
  value: (one: PointView) => number,
];

function Over({ points, kind, label, strands, unit = "" }: OverProps) {
  const { t } = useTranslation(["overview", "states"]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the strands of a picture never change, their words do
  const draw = useMemo(() => {
    const told = points ?? [];
    const made = strands.map(
      ([name, colour, value]): Strand => ({ name: t(name), colour, values: told.map(value) }),
    );
    return overTime(
      told.map((one) => one.at),
      kind,
      made,
      unit,
    );
  }, [points, t]);
  return (
    <>
      <p className="told">{label}</p>
      <Chart label={label} height={170} draw={draw} />
    </>
  );
}

interface OverProps {
  points: PointView[] | undefined;
  kind: "line" | "bar";
  label: string;
  strands: Wanted[];
  unit?: string;
}
