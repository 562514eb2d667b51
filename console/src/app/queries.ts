import { QueryClient } from "@tanstack/react-query";
import { passing } from "../api/trouble";

/** Reads are kept for a moment, asked again only where that may help, and never polled in a hidden tab. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => passing(error) && failures < 2,
      retryDelay: (failures) => Math.min(30_000, 2_000 * (failures + 1)),
      refetchOnWindowFocus: true,
      refetchIntervalInBackground: false,
    },
    mutations: { retry: false },
  },
});
