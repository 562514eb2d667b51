import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const list = createRoute({
  getParentRoute: () => root,
  path: "/rolling",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyPage(() => import("./RollingPage"), "RollingPage", ["rolling"]),
});

export const rolling = [list] as const;
