import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readDay } from "./certificates";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import("./AuditPage"), "AuditPage"),
});

const certificate = createRoute({
  getParentRoute: () => root,
  path: "/certificates",
  validateSearch: readDay,
  component: lazyRouteComponent(() => import("./CertificatePage"), "CertificatePage"),
});

export const audit = [list, certificate] as const;
