import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { StateTag } from "../../parts/StateTag";
import "./tenants.css";

/** Whether a tenant goes on or is paused, and the button for the other. */
export function Standing({ name, status, actions, pause, resume }: StandingProps) {
  const { t } = useTranslation("tenants");
  const [asking, ask] = useState<"pause" | "resume" | null>(null);
  const queries = useQueryClient();
  if (!status) return null;
  const paused = status === "PAUSED";
  const verb = paused ? "resume" : "pause";
  const act = async () => {
    await (paused ? resume() : pause());
    await queries.invalidateQueries();
  };
  return (
    <p className="standing">
      {status === "ACTIVE" || paused ? <StateTag state={status} /> : <strong>{status}</strong>}
      {(status === "ACTIVE" || paused) && (
        <Act action={actions[verb]} danger={!paused} size="small" onClick={() => ask(verb)}>
          {t(`${verb}.verb`)}
        </Act>
      )}
      {asking && (
        <Confirm
          title={t(`${asking}.title`, { name })}
          verb={t(`${asking}.verb`)}
          danger={asking === "pause"}
          effect={[t(`${asking}.first`), t(`${asking}.second`), t(`${asking}.third`)]}
          act={act}
          onClose={() => ask(null)}
        />
      )}
    </p>
  );
}

interface StandingProps {
  name: string;
  status: string | undefined;
  actions: { pause: string; resume: string };
  pause: () => Promise<unknown>;
  resume: () => Promise<unknown>;
}
