import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const list = createRoute({
  getParentRoute: () => root,
  path: "/tasks",
  validateSearch: (raw: Record<string, unknown>): { type?: string; cursor?: string } => ({
    type: readText(raw.type),
    cursor: readText(raw.cursor),
  }),
  component: lazyPage(() => import("./TasksPage"), "TasksPage", ["tasks", "instances"]),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/tasks/$type/$key",
  component: lazyPage(() => import("./TaskPage"), "TaskPage", ["tasks"]),
});

export const tasks = [list, one] as const;
