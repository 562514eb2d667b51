import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { text } from "../../parts/filters";

/** Where each of the three lists is. */
interface Places {
  subscriptions?: string;
  intakes?: string;
  parked?: string;
}

const list = createRoute({
  getParentRoute: () => root,
  path: "/events",
  validateSearch: (raw: Record<string, unknown>): Places => ({
    subscriptions: text(raw.subscriptions),
    intakes: text(raw.intakes),
    parked: text(raw.parked),
  }),
  component: lazyRouteComponent(() => import("./EventsPage"), "EventsPage"),
});

export const events = [list] as const;
