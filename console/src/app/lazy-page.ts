import { lazyRouteComponent } from "@tanstack/react-router";
import { loadPageTexts } from "../words";
import type { PageNamespace } from "../words/page-texts";

/** Returns the component of a route. It is loaded when the route is opened, together with the texts of its page. */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  importPage: () => Promise<Module>,
  name: Name,
  namespaces: readonly PageNamespace[],
) {
  return lazyRouteComponent(async () => {
    const [page] = await Promise.all([importPage(), loadPageTexts(namespaces)]);
    return page;
  }, name);
}
