import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const own = createRoute({
  getParentRoute: () => root,
  path: "/capacity",
  component: lazyRouteComponent(() => import("./CapacityPage"), "CapacityPage"),
});

export const capacity = [own] as const;
