/**
 * Notices from the server that something changed, over one shared stream.
 *
 * Read with fetch and not `EventSource`, which hides why a stream was refused. A notice carries no data: whoever watches a
 * topic fetches again. After a break every watcher is told once, because what was missed is not known.
 */
import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { addressOf, open } from "./client";
import { session } from "./session";

const SETTLE_MS = 30;
const RETRY_MS = 1000;

type Watcher = () => void;
const watchers = new Map<string, Set<Watcher>>();
let stream: AbortController | undefined;
let pending: ReturnType<typeof setTimeout> | undefined;

function watchTopic(topic: string, watcher: Watcher): () => void {
  const set = watchers.get(topic) ?? new Set();
  if (!watchers.has(topic)) {
    watchers.set(topic, set);
    reconnectSoon(SETTLE_MS);
  }
  set.add(watcher);
  return () => {
    set.delete(watcher);
    if (set.size || watchers.get(topic) !== set) return;
    watchers.delete(topic);
    reconnectSoon(SETTLE_MS);
  };
}

function reconnectSoon(delay: number): void {
  clearTimeout(pending);
  pending = setTimeout(() => void connect(), delay);
}

async function connect(): Promise<void> {
  stream?.abort();
  const topics = [...watchers.keys()];
  if (!topics.length || !session.isOpen) return;
  const mine = new AbortController();
  stream = mine;
  try {
    const address = addressOf("/api/v1/events", { query: { topics: topics.join(",") } });
    const response = await open(address, mine.signal);
    if (response.body) {
      topics.forEach(tell);
      await read(response.body, tell);
    }
  } catch {
    // Broken or refused: the retry below is the answer to both.
  }
  if (!mine.signal.aborted) reconnectSoon(RETRY_MS);
}

function tell(topic: string): void {
  watchers.get(topic)?.forEach((watcher) => watcher());
}

async function read(body: ReadableStream<Uint8Array<ArrayBuffer>>, onTopic: (topic: string) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    new Set(blocks.flatMap(topicsOf)).forEach(onTopic);
  }
}

/** Topic of one SSE block, wherever it is written: `event:`, plain `data:`, or `{"topic": ...}`. */
export function topicsOf(block: string): string[] {
  const fields = block.split(/\r?\n/).filter((line) => line && !line.startsWith(":"));
  const value = (name: string): string | undefined =>
    fields
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const data = value("data");
  if (data?.startsWith("{")) {
    try {
      const topic = (JSON.parse(data) as { topic?: unknown }).topic;
      if (typeof topic === "string") return [topic];
    } catch {
      return [];
    }
  }
  const event = value("event");
  const found = event && event !== "message" && event !== "notice" ? event : data;
  return found ? [found] : [];
}

/** Call `onNotice` when any topic changes, at most once per `everyMs`, and never lose the last notice. */
export function useNotices(topics: readonly string[], onNotice: () => void, everyMs = 250): void {
  const tellOwner = useEffectEvent(onNotice);
  const key = topics.join(",");
  useEffect(() => {
    if (!key) return;
    let last = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const fire = (): void => {
      timer = undefined;
      last = Date.now();
      tellOwner();
    };
    const notice = (): void => {
      timer ??= setTimeout(fire, Math.max(0, last + everyMs - Date.now()));
    };
    const stops = key.split(",").map((topic) => watchTopic(topic, notice));
    return () => {
      clearTimeout(timer);
      stops.forEach((stop) => stop());
    };
  }, [key, everyMs]);
}

/** Fetch again whatever is cached under `keys` when a topic changes. */
export function useLive(topics: readonly string[], keys: readonly QueryKey[], everyMs = 250): void {
  const client = useQueryClient();
  useNotices(topics, () => keys.forEach((queryKey) => void client.invalidateQueries({ queryKey })), everyMs);
}
