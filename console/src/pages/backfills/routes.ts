import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const start = createRoute({
  getParentRoute: () => root,
  path: "/backfill-groups",
  component: lazyRouteComponent(() => import("./NewGroupPage"), "NewGroupPage"),
});

const group = createRoute({
  getParentRoute: () => root,
  path: "/backfill-groups/$group",
  component: lazyRouteComponent(() => import("./GroupPage"), "GroupPage"),
});

export const backfills = [start, group] as const;
