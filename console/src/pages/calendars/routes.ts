import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";
import { readMonth } from "./days";

const list = createRoute({
  getParentRoute: () => root,
  path: "/calendars",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyRouteComponent(() => import("./CalendarsPage"), "CalendarsPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/calendars/$calendar",
  validateSearch: (raw: Record<string, unknown>): { month?: string } => ({ month: readMonth(raw.month) }),
  component: lazyRouteComponent(() => import("./CalendarPage"), "CalendarPage"),
});

export const calendars = [list, one] as const;
