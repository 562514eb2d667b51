import { useQuery } from "@tanstack/react-query";
import { getGraphRunsInstance } from "../../api/generated/client";

const REFRESH_MS = 3_000;

/** The key of a run among the cached results. */
export const runKey = (instance: string) => ["graph-run", instance];

/** Reads a run, again and again until it has ended. */
export function useRun(instance: string) {
  return useQuery({
    queryKey: runKey(instance),
    queryFn: ({ signal }) => getGraphRunsInstance(instance, { signal }),
    refetchInterval: (query) => (query.state.data && query.state.data.state !== "OPEN" ? false : REFRESH_MS),
  });
}
