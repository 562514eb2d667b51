import { useQuery } from "@tanstack/react-query";
import { findResult } from "../../api/find-result";
import type { RunStepView } from "../../api/generated/models";
import { writeJson } from "../../api/json";
import { useIsPermitted } from "../../app/permissions";

const LONGEST_HANDED = 200;

/** What a step returned. `missing` is a text of `logs.result`, or says that it was not asked for. */
export interface StepResult {
  value?: unknown;
  missing?: "none" | "gone" | "notPermitted" | "unasked";
  error?: Error | null;
}

/** Reads the result of a step that has succeeded, for those who may read payloads. A mapped step has none of its own. */
export function useStepResult(step: RunStepView | undefined): StepResult {
  const permitted = useIsPermitted("payloads.read");
  const id = step?.state === "SUCCESS" ? step.instance_id : null;
  const query = useQuery({
    queryKey: ["instance", id, "step-result"],
    queryFn: ({ signal }) => findResult(id ?? "", signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: permitted && Boolean(id),
  });
  if (!id) return { missing: "unasked" };
  if (!permitted) return { missing: "notPermitted" };
  if (query.error) return { error: query.error };
  return query.data ?? { missing: "unasked" };
}

/** Returns a result as the short text on an edge. */
export function handedText(result: StepResult): string | undefined {
  if (result.missing || result.error || result.value === undefined) return undefined;
  const text = typeof result.value === "string" ? result.value : writeJson(result.value, 0);
  return text.length > LONGEST_HANDED ? `${text.slice(0, LONGEST_HANDED)}…` : text;
}
