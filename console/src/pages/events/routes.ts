import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

/** The cursors of the three lists. */
interface ListCursors {
  subscriptions?: string;
  intakes?: string;
  parked?: string;
}

const list = createRoute({
  getParentRoute: () => root,
  path: "/events",
  validateSearch: (raw: Record<string, unknown>): ListCursors => ({
    subscriptions: readText(raw.subscriptions),
    intakes: readText(raw.intakes),
    parked: readText(raw.parked),
  }),
  component: lazyPage(() => import("./EventsPage"), "EventsPage", ["events"]),
});

export const events = [list] as const;
