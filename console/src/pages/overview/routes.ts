import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./OverviewPage"), "OverviewPage"),
});

export const overview = [index] as const;
