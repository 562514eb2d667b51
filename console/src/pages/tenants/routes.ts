import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const own = createRoute({
  getParentRoute: () => root,
  path: "/tenants",
  component: lazyPage(() => import("./TenantsPage"), "TenantsPage", ["tenants"]),
});

const all = createRoute({
  getParentRoute: () => root,
  path: "/tenants/all",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyPage(() => import("./AllTenantsPage"), "AllTenantsPage", ["tenants"]),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/tenants/all/$tenant",
  component: lazyPage(() => import("./TenantPage"), "TenantPage", ["tenants"]),
});

export const tenants = [own, all, one] as const;
