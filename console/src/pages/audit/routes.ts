import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readMonth } from "../calendars/days";
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

const days = createRoute({
  getParentRoute: () => root,
  path: "/certificates/days",
  validateSearch: (raw: Record<string, unknown>): { month?: string } => ({ month: readMonth(raw.month) }),
  component: lazyRouteComponent(() => import("./CertifiedDaysPage"), "CertifiedDaysPage"),
});

export const audit = [list, certificate, days] as const;
