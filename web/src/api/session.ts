/** Who is signed in here. The token lives in localStorage, so that a new tab needs no second sign-in. */
import { useSyncExternalStore } from "react";
import { sha512 } from "../text/sha512";
import type { User } from "./types";

const TOKEN_KEY = "resolute.token";
const SALT = "GubPEmmotfiK9TMD6Zdw";
const watchers = new Set<() => void>();
let token = typeof localStorage === "undefined" ? null : localStorage.getItem(TOKEN_KEY);

function set(next: string | null): void {
  if (next === token) return;
  token = next;
  if (next) localStorage.setItem(TOKEN_KEY, next);
  else localStorage.removeItem(TOKEN_KEY);
  for (const watcher of watchers) watcher();
}

if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => {
    if (event.key === TOKEN_KEY) set(event.newValue);
  });
}

export const session = {
  get token(): string | null {
    return token;
  },
  begin: (next: string): void => set(next),
  end: (): void => set(null),
};

export function useToken(): string | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => token,
  );
}

/** What travels instead of the password. The empty password stays empty, as every client sends it. */
export const hashPassword = (password: string): string => (password ? sha512(SALT + password) : "");

export interface Login {
  token: string;
  user: User;
}
