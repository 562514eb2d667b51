import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";

const list = createRoute({
  getParentRoute: () => root,
  path: "/incidents",
  component: lazyPage(() => import("./IncidentsPage"), "IncidentsPage", ["incidents"]),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/incidents/$incident",
  component: lazyPage(() => import("./IncidentPage"), "IncidentPage", ["incidents"]),
});

export const incidents = [list, one] as const;
