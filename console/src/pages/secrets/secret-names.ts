/** The fields of targets, sinks, alert channels and origins that hold the name of a secret. */
const FIELDS = new Set([
  "token",
  "password",
  "certificate",
  "client_secret",
  "signing",
  "ca",
  "dsn",
  "url_secret",
  "routing_key",
  "bearer",
]);

/** Whether a definition names a secret, at any depth. */
export function namesSecret(definition: unknown, secret: string): boolean {
  if (typeof definition !== "object" || definition === null) return false;
  return Object.entries(definition).some(
    ([field, value]) => (FIELDS.has(field) && value === secret) || namesSecret(value, secret),
  );
}
