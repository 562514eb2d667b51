import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { onSessionEnd } from "../api/call";
import { setCsrfToken } from "../api/csrf";
import { ApiError } from "../api/errors";
import { deleteOwnSession, getMe, postLoginKey, putOwnSessionTenant } from "../api/generated/client";
import type { Me } from "../api/generated/models";
import { queries } from "./queries";
import { clearNotes } from "./tab-notes";

const ME = ["me"];

/** All tabs of a browser share one session cookie: a tab that changes the session notifies the others. */
const tabs = new BroadcastChannel("horae-session");
tabs.onmessage = () => void queries.invalidateQueries({ queryKey: ME });

/** The identity of the session: undefined while it is loading, null without a session. */
export function useMe(): { me: Me | null | undefined; error: Error | null } {
  const query = useQuery({ queryKey: ME, queryFn: fetchMe, staleTime: 60_000, refetchInterval: 60_000 });
  useEffect(() => onSessionEnd(() => queries.setQueryData(ME, keepCsrfToken(null))), []);
  return { me: query.data, error: query.data === undefined ? query.error : null };
}

/** Reads the identity. If another tab selected another tenant, the cached results are removed first. */
async function fetchMe(): Promise<Me | null> {
  try {
    const me = await getMe();
    if (isOtherIdentity(queries.getQueryData<Me | null>(ME), me)) clearQueries();
    return keepCsrfToken(me);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return keepCsrfToken(null);
    throw error;
  }
}

export function isOtherIdentity(before: Me | null | undefined, me: Me): boolean {
  return Boolean(before) && (before?.tenant !== me.tenant || before?.principal !== me.principal);
}

function keepCsrfToken<M extends Me | null>(me: M): M {
  setCsrfToken(me?.session?.csrf ?? null);
  if (me === null) clearNotes();
  return me;
}

/** Exchanges an API key for a session. The key is not stored. */
export async function logIn(key: string): Promise<void> {
  startSession(await postLoginKey({ key }));
}

/** Switches the session to another tenant, and removes the cached results of the old one. */
export async function selectTenant(tenant: string): Promise<void> {
  startSession(await putOwnSessionTenant({ tenant }));
}

export async function logOut(): Promise<void> {
  await deleteOwnSession();
  clearQueries();
  queries.setQueryData(ME, keepCsrfToken(null));
  tabs.postMessage(null);
}

/** Removes all cached results except the identity: `LoginGate` observes that query object. */
function clearQueries(): void {
  queries.removeQueries({ predicate: (query) => query.queryKey[0] !== ME[0] });
}

function startSession(me: Me): void {
  clearQueries();
  queries.setQueryData(ME, keepCsrfToken(me));
  tabs.postMessage(null);
}
