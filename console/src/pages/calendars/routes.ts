import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";
import { readMonth } from "./days";

const list = createRoute({
  getParentRoute: () => root,
  path: "/calendars",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyPage(() => import("./CalendarsPage"), "CalendarsPage", ["calendars"]),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/calendars/$calendar",
  validateSearch: (raw: Record<string, unknown>): { month?: string } => ({ month: readMonth(raw.month) }),
  component: lazyPage(() => import("./CalendarPage"), "CalendarPage", ["calendars"]),
});

export const calendars = [list, one] as const;
