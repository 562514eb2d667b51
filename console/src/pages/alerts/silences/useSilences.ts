import { useQuery } from "@tanstack/react-query";
import { getSilences } from "../../../api/generated/client";
import type { SilenceView } from "../../../api/generated/models";
import { useIsPermitted } from "../../../app/permissions";

const MAX_SILENCES = 200;
const REFRESH_MS = 15_000;

/** Reads the silences, to mark the alerts that they cover. */
export function useSilences(): SilenceView[] {
  const permitted = useIsPermitted("silences.list");
  const query = useQuery({
    queryKey: ["silences", "all"],
    queryFn: ({ signal }) => getSilences({ limit: MAX_SILENCES }, { signal }),
    enabled: permitted,
    refetchInterval: REFRESH_MS,
  });
  return query.data?.items ?? [];
}
