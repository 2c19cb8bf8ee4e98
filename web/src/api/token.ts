/** The access token, where the server asks for one. It stays in this tab unless the person wants it kept. */
const NAME = "allears.token";

export function readToken(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

export function keepToken(token: string, onThisDevice: boolean): void {
  forgetToken();
  (onThisDevice ? localStorage : sessionStorage).setItem(NAME, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}
