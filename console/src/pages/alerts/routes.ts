import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";
import { readFilters } from "./filters";

const readCursor = (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) });

const list = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  validateSearch: readFilters,
  component: lazyPage(() => import("./AlertsPage"), "AlertsPage", ["alerts", "alertSettings"]),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/alerts/$alert",
  component: lazyPage(() => import("./AlertPage"), "AlertPage", ["alerts", "alertSettings"]),
});

const channels = createRoute({
  getParentRoute: () => root,
  path: "/alerts/channels",
  validateSearch: readCursor,
  component: lazyPage(() => import("./channels/ChannelsPage"), "ChannelsPage", ["alerts", "alertSettings"]),
});

const rules = createRoute({
  getParentRoute: () => root,
  path: "/alerts/rules",
  validateSearch: readCursor,
  component: lazyPage(() => import("./rules/RulesPage"), "RulesPage", ["alerts", "alertSettings"]),
});

const silences = createRoute({
  getParentRoute: () => root,
  path: "/alerts/silences",
  validateSearch: readCursor,
  component: lazyPage(() => import("./silences/SilencesPage"), "SilencesPage", ["alerts", "alertSettings"]),
});

export const alerts = [list, channels, rules, silences, one] as const;
