import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const own = createRoute({
  getParentRoute: () => root,
  path: "/tenants",
  component: lazyRouteComponent(() => import("./TenantsPage"), "TenantsPage"),
});

const all = createRoute({
  getParentRoute: () => root,
  path: "/tenants/all",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyRouteComponent(() => import("./AllTenantsPage"), "AllTenantsPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/tenants/all/$tenant",
  component: lazyRouteComponent(() => import("./TenantPage"), "TenantPage"),
});

export const tenants = [own, all, one] as const;
