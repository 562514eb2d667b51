import { useQuery } from "@tanstack/react-query";
import { getJobs } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";

const MAX_TYPES = 200;

/** Reads the task types: jobs with a keyed trigger. */
export function useTaskTypes() {
  return useQuery({
    queryKey: ["types"],
    queryFn: async ({ signal }): Promise<JobView[]> =>
      (await getJobs({ kind: "keyed", limit: MAX_TYPES }, { signal })).items,
    staleTime: 30_000,
  });
}
