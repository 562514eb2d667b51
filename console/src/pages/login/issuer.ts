const WHERE = "horae.return";

/** Off to the issuer; where we were is kept for the way back. */
export function goToIssuer(): void {
  sessionStorage.setItem(WHERE, location.pathname + location.search);
  location.assign("/login");
}

/** Back from the issuer: the address that was asked for before, once; only one of our own. */
export function backFromIssuer(): string | null {
  const kept = sessionStorage.getItem(WHERE);
  sessionStorage.removeItem(WHERE);
  return kept?.startsWith("/console/") ? kept : null;
}
