/**
 * One way to the server: the cookie travels by itself, refusals become the server's own sentence, a lost connection is
 * noted. Knows nothing of addresses; `client.ts` does.
 */
import { connection } from "./connection";
import { session } from "./session";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | undefined | null | readonly (string | number)[]>;

export interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export async function request(method: string, path: string, options: Options = {}): Promise<unknown> {
  const response = await send(method, path, options);
  if (!response.ok) throw await refusal(response);
  const text = await response.text();
  return text ? JSON.parse(text) : {};
}

const AWAY = "The server does not answer. This page tries again by itself.";
/** Whether the request arrived is not known, and nothing that changes something is sent twice. */
const AWAY_CHANGING = "The server does not answer. Once it does, look whether this was done, and do it again if not.";

/** The raw response, for streams and downloads. Throws only when the server cannot be reached. */
export async function send(method: string, path: string, { query, body, signal }: Options = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const init: RequestInit = { method, headers, cache: "no-store" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  try {
    const response = await fetch(path + queryString(query), init);
    connection.reached();
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    connection.lost();
    throw new ApiError(method === "GET" ? AWAY : AWAY_CHANGING, 0);
  }
}

export async function refusal(response: Response): Promise<ApiError> {
  if (response.status === 401) session.end();
  return new ApiError(sentenceOf(await response.text(), response.status), response.status);
}

/** The server's own words, in whichever of the known envelopes they came. */
export function sentenceOf(body: string, status: number): string {
  try {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    const error = parsed["error"];
    if (error && typeof error === "object") {
      const inner = error as Record<string, unknown>;
      const words = inner["error"] ?? inner["message"];
      if (typeof words === "string") return words;
    }
    for (const key of ["message", "detail", "error"]) {
      if (typeof parsed[key] === "string") return parsed[key];
    }
  } catch {
    // Not JSON: a proxy's page. Its status says more than its markup.
  }
  return body && body.length < 300 && !body.startsWith("<") ? body : `The server answered with status ${status}.`;
}

export function queryString(query: Query | undefined): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) parts.append(key, String(item));
  }
  const text = parts.toString();
  return text ? `?${text}` : "";
}
