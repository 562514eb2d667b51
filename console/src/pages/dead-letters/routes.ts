import { createRoute, redirect } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  validateSearch: readFilters,
  component: lazyPage(() => import("./DeadLettersPage"), "DeadLettersPage", ["deadLetters", "triage"]),
});

const causes = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/causes",
  validateSearch: (raw: Record<string, unknown>): { job?: string; cursor?: string } => ({
    job: readText(raw.job),
    cursor: readText(raw.cursor),
  }),
  component: lazyPage(() => import("./CausesPage"), "CausesPage", ["deadLetters", "triage"]),
});

const cause = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/causes/$cause",
  component: lazyPage(() => import("./CausePage"), "CausePage", ["deadLetters", "triage"]),
});

const replays = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/replays",
  validateSearch: (raw: Record<string, unknown>): { cursor?: string } => ({ cursor: readText(raw.cursor) }),
  component: lazyPage(() => import("./ReplaysPage"), "ReplaysPage", ["deadLetters", "triage"]),
});

const replay = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/replays/$replay",
  component: lazyPage(() => import("./ReplayPage"), "ReplayPage", ["triage"]),
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
