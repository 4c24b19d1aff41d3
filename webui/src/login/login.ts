// The page's half of this browser's login. The other half is a cookie that no script can read.
// Cookies are shared by all ports of a host; this storage belongs to this origin alone.

const LOGIN_KEY = "navi.login";
const ADDRESS_KEY = "navi.wanted";

export interface Login {
  user: string;
  secret: string;
}

export function currentLogin(): Login | null {
  const kept = localStorage.getItem(LOGIN_KEY);
  return kept === null ? null : (JSON.parse(kept) as Login);
}

export function keepLogin(login: Login): void {
  localStorage.setItem(LOGIN_KEY, JSON.stringify(login));
}

/** Removes a login that has ended and reloads the page, which asks for a new one. */
export function leave(ended: Login | null): void {
  // Another tab may have logged in again in the meantime.
  if (currentLogin()?.secret === ended?.secret) localStorage.removeItem(LOGIN_KEY);
  location.reload();
}

/** A login or logout in another tab applies here too. */
export function followOtherTabs(): void {
  addEventListener("storage", (event) => {
    if (event.key === LOGIN_KEY && location.pathname === "/") location.reload();
  });
}

/** Remembers the address to open after logging in, even if a login link replaces the page in this tab. */
export function rememberAddress(): void {
  sessionStorage.setItem(ADDRESS_KEY, location.hash);
}

export function enter(): void {
  const hash = sessionStorage.getItem(ADDRESS_KEY) ?? "";
  sessionStorage.removeItem(ADDRESS_KEY);
  if (location.pathname === "/") location.reload();
  else location.replace(`/${hash}`);
}
