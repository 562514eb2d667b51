import { useQuery } from "@tanstack/react-query";
import { getKeys } from "../api/generated/client";
import { useIsPermitted } from "../app/permissions";
import { keyIdIn } from "./key-ids";
import { MAX_PAGE_SIZE } from "./list/export";

const MAX_PAGES = 5;

/** Returns the name of an API key by its id or principal; people have no id, and keys of other tenants no name here. */
function usePrincipalNames(): (id: string) => string | undefined {
  const isPermitted = useIsPermitted("keys.list");
  const names = useQuery({
    queryKey: ["keys", "names"],
    queryFn: ({ signal }) => keyNames(signal),
    enabled: isPermitted,
    staleTime: 60_000,
  }).data;
  return (id) => names?.get(keyIdIn(id) ?? "");
}

async function keyNames(signal: AbortSignal): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await getKeys({ cursor, limit: MAX_PAGE_SIZE }, { signal });
    for (const key of found.items) names.set(key.id, key.name);
    cursor = found.next ?? undefined;
    if (!cursor) break;
  }
  return names;
}

/** Who did something: the name of a key, with its id as the title; anything else as it is. */
export function Principal({ id }: { id: string }) {
  const name = usePrincipalNames()(id);
  return name ? <span title={id}>{name}</span> : <code>{id}</code>;
}
