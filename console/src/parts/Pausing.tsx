import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Act } from "./Act";
import { Confirm } from "./Confirm";

export type Verb = "pause" | "resume";

interface PausingProps {
  of: "subscriptions" | "intakes" | "sources" | "tenants" | "tenant";
  paused: boolean;
  says: (verb: Verb) => { title: string; verb?: string; effect: string[] };
  act: (verb: Verb) => Promise<unknown>;
  size?: "small";
  danger?: boolean;
}

/** Stop something, or let it go on: one button for whichever it is not, and what pressing it does. */
export function Pausing({ of, paused, says, act, size, danger }: PausingProps) {
  const { t } = useTranslation("frame");
  const [asking, ask] = useState<Verb | null>(null);
  const queries = useQueryClient();
  const verb = paused ? "resume" : "pause";
  const word = (verb: Verb) => says(verb).verb ?? t(`pausing.${verb}`);
  return (
    <>
      <Act action={`${of}.${verb}`} size={size} danger={danger && !paused} onClick={() => ask(verb)}>
        {word(verb)}
      </Act>
      {asking && (
        <Confirm
          {...says(asking)}
          verb={word(asking)}
          danger={danger && asking === "pause"}
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
