/**
 * Whether somebody is signed in here. The token itself is in a cookie that no script can read; the first answer of the
 * server tells whether it is still good, and tabs tell each other when that changes.
 */
import { useSyncExternalStore } from "react";

export type SessionState = "unknown" | "in" | "out";

const SALT = "GubPEmmotfiK9TMD6Zdw";
const watchers = new Set<() => void>();
const otherTabs = typeof window === "undefined" ? undefined : new BroadcastChannel("resolute.session");
let state: SessionState = "unknown";

function set(next: SessionState): void {
  if (next === state) return;
  state = next;
  for (const watcher of watchers) watcher();
}

function change(next: SessionState): void {
  if (next !== state && state !== "unknown") otherTabs?.postMessage(next);
  set(next);
}

if (otherTabs) {
  // Earlier versions kept the token where every script could read it.
  localStorage.removeItem("resolute.token");
  // Somebody else may have signed in there: what this tab knows is asked for again.
  otherTabs.onmessage = (event: MessageEvent<SessionState>) => set(event.data === "out" ? "out" : "unknown");
}

export const session = {
  get isOpen(): boolean {
    return state === "in";
  },
  begin: (): void => change("in"),
  end: (): void => change("out"),
};

export function useSession(): SessionState {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => state,
  );
}

/**
 * What travels instead of the password. The empty password stays empty, as every client sends it. Browsers offer their
 * own SHA-512 only over https, and a cluster's page may be plain http.
 */
export async function hashPassword(password: string): Promise<string> {
  if (!password) return "";
  const [{ sha512 }, { bytesToHex, utf8ToBytes }] = await Promise.all([
    import("@noble/hashes/sha2.js"),
    import("@noble/hashes/utils.js"),
  ]);
  return bytesToHex(sha512(utf8ToBytes(SALT + password)));
}
