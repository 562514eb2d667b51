import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readSought } from "./sought";

const list = createRoute({
  getParentRoute: () => root,
  path: "/letters",
  validateSearch: readSought,
  component: lazyRouteComponent(() => import("./LettersPage"), "LettersPage"),
});

export const letters = [list] as const;
