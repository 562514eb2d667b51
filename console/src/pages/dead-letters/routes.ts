import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readFilters } from "./filters";

const list = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import("./DeadLettersPage"), "DeadLettersPage"),
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

export const deadLetters = [list, former] as const;
