import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readMonth } from "../calendars/days";
import { readDay } from "./certificates";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: readFilters,
  component: lazyPage(() => import("./AuditPage"), "AuditPage", ["audit"]),
});

const certificate = createRoute({
  getParentRoute: () => root,
  path: "/certificates",
  validateSearch: readDay,
  component: lazyPage(() => import("./CertificatePage"), "CertificatePage", ["audit"]),
});

const days = createRoute({
  getParentRoute: () => root,
  path: "/certificates/days",
  validateSearch: (raw: Record<string, unknown>): { month?: string } => ({ month: readMonth(raw.month) }),
  component: lazyPage(() => import("./CertifiedDaysPage"), "CertifiedDaysPage", ["audit"]),
});

export const audit = [list, certificate, days] as const;
