/** A key that no other message has. (`crypto.randomUUID` is missing where a page is not served over TLS.) */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
