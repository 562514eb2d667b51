import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { whenLeft } from "../api/call";
import { keepCsrf } from "../api/csrf";
import { deleteOwnSession, getMe, postLoginKey, putOwnSessionTenant } from "../api/generated/client";
import type { Me } from "../api/generated/models";
import { Refused } from "../api/trouble";
import { queries } from "./queries";

const ME = ["me"];

/** The cookie is one for all tabs of a browser: whoever changes the session tells the others. */
const tabs = new BroadcastChannel("horae-session");
tabs.onmessage = () => void queries.invalidateQueries({ queryKey: ME });

/** Who we are: undefined while nobody knows yet, null when we have to log in. */
export function useMe(): { me: Me | null | undefined; error: Error | null } {
  const asked = useQuery({ queryKey: ME, queryFn: who, staleTime: 60_000, refetchInterval: 60_000 });
  useEffect(() => whenLeft(() => queries.setQueryData(ME, null)), []);
  return { me: asked.data, error: asked.data === undefined ? asked.error : null };
}

/** Another tab may have chosen another tenant: what was read before is forgotten before the new name is shown. */
async function who(): Promise<Me | null> {
  try {
    const me = await getMe();
    if (isOther(queries.getQueryData<Me | null>(ME), me)) forget();
    return known(me);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return known(null);
    throw error;
  }
}

export function isOther(before: Me | null | undefined, me: Me): boolean {
  return Boolean(before) && (before?.tenant !== me.tenant || before?.principal !== me.principal);
}

function known<M extends Me | null>(me: M): M {
  keepCsrf(me?.session?.csrf ?? null);
  return me;
}

/** Exchange an API key for a session; the key itself is kept nowhere. */
export async function enter(key: string): Promise<void> {
  welcome(await postLoginKey({ key }));
}

/** Work in another tenant from now on: nothing that was read in the old one may stay on the screen. */
export async function choose(tenant: string): Promise<void> {
  welcome(await putOwnSessionTenant({ tenant }));
}

export async function leave(): Promise<void> {
  await deleteOwnSession();
  forget();
  queries.setQueryData(ME, known(null));
  tabs.postMessage(null);
}

/** All that was read, but who we are: the gate looks at that one, and would not see another in its place. */
function forget(): void {
  queries.removeQueries({ predicate: (query) => query.queryKey[0] !== ME[0] });
}

function welcome(me: Me): void {
  forget();
  queries.setQueryData(ME, known(me));
  tabs.postMessage(null);
}
