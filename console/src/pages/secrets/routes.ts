import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

/** `name` is the secret whose references are shown. A value is never part of an address. */
interface Search {
  cursor?: string;
  name?: string;
}

const list = createRoute({
  getParentRoute: () => root,
  path: "/secrets",
  validateSearch: (raw: Record<string, unknown>): Search => ({
    cursor: readText(raw.cursor),
    name: readText(raw.name),
  }),
  component: lazyPage(() => import("./SecretsPage"), "SecretsPage", ["secrets"]),
});

export const secrets = [list] as const;
