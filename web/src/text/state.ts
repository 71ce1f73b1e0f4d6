/** Words and colours for states. The wire says STATE_RUNNING; people read "Running". */
export type Tone = "accent" | "good" | "warn" | "bad" | "note" | "";

const TONES: Record<string, Tone> = {
  ACTIVE: "accent",
  RUNNING: "accent",
  SCHEDULED: "accent",
  STARTING: "accent",
  PULLING: "accent",
  SCHEDULED_BACKFILLED: "accent",
  COMPLETED: "good",
  READY: "good",
  DEGRADED: "warn",
  DRAINING: "warn",
  RESTARTING: "warn",
  FAILED: "bad",
  SCALED_TO_ZERO: "note",
  PAUSED: "warn",
  ERROR: "bad",
  DELETE_FAILED: "bad",
  QUEUED: "note",
  WAITING: "note",
  DELETING: "warn",
  PARTIALLY_DELETED: "warn",
};
const ENDED = new Set(["COMPLETED", "CANCELED", "ERROR", "DELETED", "DELETE_FAILED"]);
const PULSING = new Set(["ACTIVE", "RUNNING", "STARTING", "PULLING"]);

export const bare = (state: string | null | undefined): string => (state ?? "").replace(/^STATE_/, "");
export const isEnded = (state: string): boolean => ENDED.has(bare(state));
export const isPaused = (state: string): boolean => bare(state) === "PAUSED";
export const isStopping = (state: string): boolean => bare(state).startsWith("STOPPING");
export const isRunning = (state: string): boolean => PULSING.has(bare(state));
export const isLive = (state: string): boolean => !isEnded(state) && !isPaused(state);
export const toneOf = (state: string): Tone => (isStopping(state) ? "warn" : (TONES[bare(state)] ?? ""));

export function wordOf(state: string): string {
  const name = bare(state);
  if (!name || name === "UNSPECIFIED") return "Unknown";
  if (name.startsWith("STOPPING_")) return "Stopping";
  if (name === "SCHEDULED_BACKFILLED") return "Scheduled";
  const words = name.toLowerCase().replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
