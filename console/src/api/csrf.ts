/** The CSRF token of the session, from /api/v1/me. It is kept in memory only. */
let token: string | null = null;

export function csrfToken(): string | null {
  return token;
}

export function setCsrfToken(value: string | null): void {
  token = value;
}
