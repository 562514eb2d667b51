import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";
import { readFilters } from "./filters";

const readCursor = (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) });

const list = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import("./AlertsPage"), "AlertsPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/alerts/$alert",
  component: lazyRouteComponent(() => import("./AlertPage"), "AlertPage"),
});

const channels = createRoute({
  getParentRoute: () => root,
  path: "/alerts/channels",
  validateSearch: readCursor,
  component: lazyRouteComponent(() => import("./channels/ChannelsPage"), "ChannelsPage"),
});

const rules = createRoute({
  getParentRoute: () => root,
  path: "/alerts/rules",
  validateSearch: readCursor,
  component: lazyRouteComponent(() => import("./rules/RulesPage"), "RulesPage"),
});

const silences = createRoute({
  getParentRoute: () => root,
  path: "/alerts/silences",
  validateSearch: readCursor,
  component: lazyRouteComponent(() => import("./silences/SilencesPage"), "SilencesPage"),
});

export const alerts = [list, channels, rules, silences, one] as const;
