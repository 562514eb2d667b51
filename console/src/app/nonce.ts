/** The nonce with which the server lets our style elements through; none while Vite serves the page. */
export function nonce(): string | undefined {
  const told = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
  return told && !told.startsWith("__") ? told : undefined;
}
