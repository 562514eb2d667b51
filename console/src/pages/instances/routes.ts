import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/instances",
  validateSearch: readFilters,
  component: lazyPage(() => import("./InstancesPage"), "InstancesPage", ["instances"]),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/instances/$instance",
  component: lazyPage(() => import("./InstancePage"), "InstancePage", ["instances", "logs"]),
});

export const instances = [list, one] as const;
