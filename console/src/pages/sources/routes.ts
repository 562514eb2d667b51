import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const list = createRoute({
  getParentRoute: () => root,
  path: "/sources",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyPage(() => import("./SourcesPage"), "SourcesPage", ["sources"]),
});

/** `round` selects the differences of one round; `rounds` and `cursor` are the cursors of the two lists. */
interface OneSearch {
  round?: number;
  rounds?: string;
  cursor?: string;
}

const one = createRoute({
  getParentRoute: () => root,
  path: "/sources/$type",
  validateSearch: (raw: Record<string, unknown>): OneSearch => ({
    round: Number(raw.round) >= 1 ? Math.trunc(Number(raw.round)) : undefined,
    rounds: readText(raw.rounds),
    cursor: readText(raw.cursor),
  }),
  component: lazyPage(() => import("./SourcePage"), "SourcePage", ["sources"]),
});

export const sources = [list, one] as const;
