const RETURN_ADDRESS = "horae.return";

/** Opens the login of the OIDC issuer, and saves the address for the return. */
export function goToIssuer(): void {
  sessionStorage.setItem(RETURN_ADDRESS, location.pathname + location.search);
  location.assign("/login");
}

/** Returns and removes the address that `goToIssuer` saved; only an address of the console. */
export function takeReturnAddress(): string | null {
  const address = sessionStorage.getItem(RETURN_ADDRESS);
  sessionStorage.removeItem(RETURN_ADDRESS);
  return address?.startsWith("/console/") ? address : null;
}
