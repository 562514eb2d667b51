import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

/** `queue` and `polling` narrow the workers; `queues` and `cursor` are the cursors of the two lists. */
interface Search {
  queue?: string;
  polling?: boolean;
  queues?: string;
  cursor?: string;
}

const page = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  validateSearch: (raw: Record<string, unknown>): Search => ({
    queue: readText(raw.queue),
    polling: raw.polling === true || raw.polling === "true" || undefined,
    queues: readText(raw.queues),
    cursor: readText(raw.cursor),
  }),
  component: lazyRouteComponent(() => import("./WorkersPage"), "WorkersPage"),
});

export const workers = [page] as const;
