import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
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
  component: lazyPage(() => import("./WorkersPage"), "WorkersPage", ["workers"]),
});

export const workers = [page] as const;
