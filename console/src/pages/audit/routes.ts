import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import("./AuditPage"), "AuditPage"),
});

export const audit = [list] as const;
