/** The token of our session, which /api/v1/me tells; kept in memory only. */
let token: string | null = null;

export function csrf(): string | null {
  return token;
}

export function keepCsrf(told: string | null): void {
  token = told;
}
