import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { RecentRunView } from "../api/generated/models";
import { StateTag } from "./StateTag";
import { markedTime } from "./times";
import { toneOf } from "./tones";
import "./parts.css";

/** How the newest runs of a job ended: the last one by its name, those before it as marks, the oldest first. */
export function RunMarks({ runs, none }: { runs: RecentRunView[]; none: string }) {
  const { t } = useTranslation("states");
  const [last] = runs;
  if (!last) return <span className="soft">{none}</span>;
  const text = runs.map((run) => t(run.state)).reverse();
  return (
    <span className="run-marks">
      <Link
        to="/instances/$instance"
        params={{ instance: last.instance_id }}
        title={`${markedTime(last.ended_at)}${last.error_code ? ` ${last.error_code}` : ""}`}
      >
        <StateTag state={last.state} />
      </Link>
      {runs.length > 1 && (
        <span className="marks" role="img" aria-label={text.join(", ")} title={text.join(", ")}>
          {[...runs].reverse().map((run) => (
            <span key={run.instance_id} className={`mark tone-${toneOf(run.state)}`} data-state={run.state} />
          ))}
        </span>
      )}
    </span>
  );
}
