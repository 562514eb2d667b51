import { useQuery } from "@tanstack/react-query";
import { getJobs } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";

const MANY = 200;

/** The jobs whose fires are asked for by business key. */
export function useTypes() {
  return useQuery({
    queryKey: ["types"],
    queryFn: async ({ signal }): Promise<JobView[]> =>
      (await getJobs({ kind: "keyed", limit: MANY }, { signal })).items,
    staleTime: 30_000,
  });
}
