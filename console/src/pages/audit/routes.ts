import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readSought } from "./sought";

const list = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: readSought,
  component: lazyRouteComponent(() => import("./AuditPage"), "AuditPage"),
});

export const audit = [list] as const;
