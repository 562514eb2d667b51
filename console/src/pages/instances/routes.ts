import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/instances",
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import("./InstancesPage"), "InstancesPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/instances/$instance",
  component: lazyRouteComponent(() => import("./InstancePage"), "InstancePage"),
});

export const instances = [list, one] as const;
