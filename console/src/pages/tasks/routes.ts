import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const list = createRoute({
  getParentRoute: () => root,
  path: "/tasks",
  validateSearch: (raw: Record<string, unknown>): { type?: string; cursor?: string } => ({
    type: readText(raw.type),
    cursor: readText(raw.cursor),
  }),
  component: lazyRouteComponent(() => import("./TasksPage"), "TasksPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/tasks/$type/$key",
  component: lazyRouteComponent(() => import("./TaskPage"), "TaskPage"),
});

export const tasks = [list, one] as const;
