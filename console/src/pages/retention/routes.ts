import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const own = createRoute({
  getParentRoute: () => root,
  path: "/retention",
  component: lazyRouteComponent(() => import("./RetentionPage"), "RetentionPage"),
});

export const retention = [own] as const;
