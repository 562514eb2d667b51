import { QueryClient } from "@tanstack/react-query";
import { isTransient } from "../api/errors";

/** Results are fresh for five seconds, retried on transient errors only, and not polled in a hidden tab. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => isTransient(error) && failures < 2,
      retryDelay: (failures) => Math.min(30_000, 2_000 * (failures + 1)),
      refetchOnWindowFocus: true,
      refetchIntervalInBackground: false,
    },
    mutations: { retry: false },
  },
});
