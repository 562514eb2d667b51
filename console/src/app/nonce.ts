/** The CSP nonce for style elements; none while Vite serves the page. */
export function nonce(): string | undefined {
  const value = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
  return value && !value.startsWith("__") ? value : undefined;
}
