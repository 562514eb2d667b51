import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import("./DeadLettersPage"), "DeadLettersPage"),
});

const causes = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/causes",
  validateSearch: (raw: Record<string, unknown>): { job?: string; cursor?: string } => ({
    job: readText(raw.job),
    cursor: readText(raw.cursor),
  }),
  component: lazyRouteComponent(() => import("./CausesPage"), "CausesPage"),
});

const cause = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/causes/$cause",
  component: lazyRouteComponent(() => import("./CausePage"), "CausePage"),
});

const replays = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/replays",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyRouteComponent(() => import("./ReplaysPage"), "ReplaysPage"),
});

const replay = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/replays/$replay",
  component: lazyRouteComponent(() => import("./ReplayPage"), "ReplayPage"),
});

/** The former address of the page: old links still work. */
const former = createRoute({
  getParentRoute: () => root,
  path: "/letters",
  validateSearch: readFilters,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/dead-letters", search, replace: true });
  },
});

export const deadLetters = [list, causes, cause, replays, replay, former] as const;
