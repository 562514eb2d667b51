import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const own = createRoute({
  getParentRoute: () => root,
  path: "/limits",
  component: lazyRouteComponent(() => import("./LimitsPage"), "LimitsPage"),
});

export const limits = [own] as const;
