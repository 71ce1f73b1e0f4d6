/**
 * The door to the server: addresses, parameters, bodies and answers are those of its OpenAPI document.
 *
 * What the schema does not know does not compile. Everything is sent by `http.ts`; pages never write an address by hand.
 */
import { queryString, refusal, request, send, type Query } from "./http";
import type { paths } from "./schema";

export type Method = "get" | "post" | "put" | "patch" | "delete";
type Operation<M extends Method, P extends keyof paths> = paths[P] extends Record<M, infer O> ? O : never;

/** Addresses that know a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never;
}[keyof paths];

type Has<O, K extends string> = O extends { parameters: Record<K, infer T> }
  ? Record<K, T>
  : O extends { parameters: Partial<Record<K, infer T>> }
    ? { [key in K]?: unknown extends T ? never : T }
    : { [key in K]?: never };
type BodyOf<O> = O extends { requestBody: { content: { "application/json": infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { "application/json": infer B } } }
    ? { body?: unknown extends B ? never : B }
    : { body?: never };

/** What goes into an address: its path parameters and its query. */
export type Where<P extends PathOf<"get">> = Has<Operation<"get", P>, "path"> & Has<Operation<"get", P>, "query">;
export type QueryOf<P extends PathOf<"get">> = NonNullable<Where<P>["query"]>;
export type Request<M extends Method, P extends PathOf<M>> = Has<Operation<M, P>, "path"> &
  Has<Operation<M, P>, "query"> &
  BodyOf<Operation<M, P>> & { signal?: AbortSignal };
export type Answer<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { responses: { 200: { content: { "application/json": infer R } } } } ? R : never;
/** An argument that may be left out when nothing in it is required. */
type Maybe<T> = object extends T ? [T?] : [T];

interface Parts {
  path?: Record<string, string | number>;
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

function call(method: Method, path: string, parts: Parts = {}): Promise<unknown> {
  const { query, body, signal } = parts;
  return request(method.toUpperCase(), filled(path, parts.path), { ...(query ? { query } : {}), body, signal });
}

type Call<M extends Method> = <P extends PathOf<M>>(path: P, ...parts: Maybe<Request<M, P>>) => Promise<Answer<M, P>>;

const caller = <M extends Method>(method: M): Call<M> =>
  ((path: string, parts?: Parts) => call(method, path, parts)) as Call<M>;

export const api = {
  get: caller("get"),
  post: caller("post"),
  put: caller("put"),
  patch: caller("patch"),
  delete: caller("delete"),
};

/** An address that this module made: what pictures, downloads and streams are fetched from. */
export type Address = string & { readonly __made: unique symbol };

export function addressOf<P extends PathOf<"get">>(path: P, ...where: Maybe<Where<P>>): Address {
  const parts = (where[0] ?? {}) as Parts;
  return (filled(path, parts.path) + queryString(parts.query)) as Address;
}

/** The raw response of an address, for streams and downloads; a refusal is thrown. */
export async function open(address: Address, signal?: AbortSignal): Promise<Response> {
  const response = await send("GET", address, { signal });
  if (!response.ok) throw await refusal(response);
  return response;
}

function filled(path: string, values: Record<string, string | number> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}
