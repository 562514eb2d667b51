import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Act } from "./Act";
import { Confirm } from "./Confirm";

type Verb = "pause" | "resume";

interface PausingProps {
  of: "subscriptions" | "intakes" | "sources";
  paused: boolean;
  says: (verb: Verb) => { title: string; effect: string[] };
  act: (verb: Verb) => Promise<unknown>;
  size?: "small";
}

/** Stop something, or let it go on: one button for whichever it is not, and what pressing it does. */
export function Pausing({ of, paused, says, act, size }: PausingProps) {
  const { t } = useTranslation("frame");
  const [asking, ask] = useState<Verb | null>(null);
  const queries = useQueryClient();
  const verb = paused ? "resume" : "pause";
  return (
    <>
      <Act action={`${of}.${verb}`} size={size} onClick={() => ask(verb)}>
        {t(`pausing.${verb}`)}
      </Act>
      {asking && (
        <Confirm
          {...says(asking)}
          verb={t(`pausing.${asking}`)}
          act={async () => {
            await act(asking);
            await queries.invalidateQueries();
          }}
          onClose={() => ask(null)}
        />
      )}
    </>
  );
}
