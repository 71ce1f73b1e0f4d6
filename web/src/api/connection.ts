/** Whether the server can be reached, as a value that components can watch. Heals by itself. */
import { useSyncExternalStore } from "react";

const RETRY_MS = 1500;

type State = "up" | "lost";
let state: State = "up";
let timer: ReturnType<typeof setTimeout> | undefined;
const watchers = new Set<() => void>();

function set(next: State): void {
  if (state === next) return;
  state = next;
  for (const watcher of watchers) watcher();
}

async function probe(): Promise<void> {
  try {
    const response = await fetch("/info", { cache: "no-store" });
    if (response.ok) return connection.reached();
  } catch {
    // Still away; the next probe is due below.
  }
  timer = setTimeout(probe, RETRY_MS);
}

export const connection = {
  get state(): State {
    return state;
  },
  reached(): void {
    clearTimeout(timer);
    timer = undefined;
    set("up");
  },
  lost(): void {
    set("lost");
    timer ??= setTimeout(probe, RETRY_MS);
  },
  watch(watcher: () => void): () => void {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  },
};

export function useConnection(): State {
  return useSyncExternalStore(connection.watch, () => state);
}
