import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readSought } from "./sought";

const list = createRoute({
  getParentRoute: () => root,
  path: "/instances",
  validateSearch: readSought,
  component: lazyRouteComponent(() => import("./InstancesPage"), "InstancesPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/instances/$instance",
  component: lazyRouteComponent(() => import("./InstancePage"), "InstancePage"),
});

export const instances = [list, one] as const;
