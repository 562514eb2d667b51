import { useQuery } from "@tanstack/react-query";
import { getJobCoverage } from "../../api/generated/client";

const REFRESH_MS = 15_000;

/** Reads the coverage of a rolling set. Nodes count once per minute: lists need no shorter interval. */
export function useCoverage(job: string, every = REFRESH_MS) {
  return useQuery({
    queryKey: ["job", job, "coverage"],
    queryFn: ({ signal }) => getJobCoverage(job, { signal }),
    refetchInterval: every,
  });
}
