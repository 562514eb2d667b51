import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const list = createRoute({
  getParentRoute: () => root,
  path: "/drills",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyRouteComponent(() => import("./DrillsPage"), "DrillsPage"),
});

export const drills = [list] as const;
