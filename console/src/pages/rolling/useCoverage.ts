import { useQuery } from "@tanstack/react-query";
import { getJobCoverage } from "../../api/generated/client";

const REFRESH = 15_000;

/** How well a job's set is covered; nodes count once a minute, so that lists need not ask more often. */
export function useCoverage(job: string, every = REFRESH) {
  return useQuery({
    queryKey: ["job", job, "coverage"],
    queryFn: ({ signal }) => getJobCoverage(job, { signal }),
    refetchInterval: every,
  });
}
