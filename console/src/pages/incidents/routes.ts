import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const list = createRoute({
  getParentRoute: () => root,
  path: "/incidents",
  component: lazyRouteComponent(() => import("./IncidentsPage"), "IncidentsPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/incidents/$incident",
  component: lazyRouteComponent(() => import("./IncidentPage"), "IncidentPage"),
});

export const incidents = [list, one] as const;
