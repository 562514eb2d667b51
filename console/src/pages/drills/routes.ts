import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const list = createRoute({
  getParentRoute: () => root,
  path: "/drills",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyPage(() => import("./DrillsPage"), "DrillsPage", ["drills"]),
});

export const drills = [list] as const;
