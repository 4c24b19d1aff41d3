// The page's half of this browser's login. The other half is a cookie that no script can read.
// Cookies are shared by all ports of a host; this storage belongs to this origin alone.

const PLACE = "navi.login";
const WANTED = "navi.wanted";

export interface Login {
  user: string;
  secret: string;
}

export function currentLogin(): Login | null {
  const kept = localStorage.getItem(PLACE);
  return kept === null ? null : (JSON.parse(kept) as Login);
}

export function keepLogin(login: Login): void {
  localStorage.setItem(PLACE, JSON.stringify(login));
}

/** This login has ended: ask for a new one, at the same address. */
export function leave(ended: Login | null): void {
  // Another tab may have logged in again in the meantime.
  if (currentLogin()?.secret === ended?.secret) localStorage.removeItem(PLACE);
  location.reload();
}

/** A login or logout in another tab applies here too. */
export function followOtherTabs(): void {
  addEventListener("storage", (event) => {
    if (event.key === PLACE && location.pathname === "/") location.reload();
  });
}

/** Where to go once logged in, even if that takes another page in the same tab. */
export function rememberPlace(): void {
  sessionStorage.setItem(WANTED, location.hash);
}

export function enter(): void {
  const wanted = sessionStorage.getItem(WANTED) ?? "";
  sessionStorage.removeItem(WANTED);
  if (location.pathname === "/") location.reload();
  else location.replace(`/${wanted}`);
}
