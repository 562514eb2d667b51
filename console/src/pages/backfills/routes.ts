import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";

const start = createRoute({
  getParentRoute: () => root,
  path: "/backfill-groups",
  component: lazyPage(() => import("./NewGroupPage"), "NewGroupPage", ["backfills", "jobs"]),
});

const group = createRoute({
  getParentRoute: () => root,
  path: "/backfill-groups/$group",
  component: lazyPage(() => import("./GroupPage"), "GroupPage", ["backfills"]),
});

export const backfills = [start, group] as const;
