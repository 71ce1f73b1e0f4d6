import { afterEach, describe, expect, test, vi } from "vitest";
import { addressOf, api } from "../src/api/client";

/** Never called: it compiles, and every line marked as wrong must not. A renamed field, path or parameter fails here. */
export async function whatTheDoorRefuses(): Promise<void> {
  const { experiment } = await api.get("/api/v1/experiments/{experiment_id}", { path: { experiment_id: 7 } });
  const name: string = experiment.name;
  // @ts-expect-error a field that the answer does not have
  void experiment.nmae;
  // @ts-expect-error an address that the server does not have
  await api.get("/api/v1/experiment/{experiment_id}", { path: { experiment_id: 7 } });
  // @ts-expect-error a method that the address does not know
  await api.delete("/api/v1/me");
  // @ts-expect-error a path parameter by another name
  await api.get("/api/v1/experiments/{experiment_id}", { path: { id: 7 } });
  // @ts-expect-error a path parameter left out
  await api.get("/api/v1/experiments/{experiment_id}");
  // @ts-expect-error a query parameter by another name
  await api.get("/api/v1/experiments", { query: { sort: "SORT_BY_ID" } });
  // @ts-expect-error a value that the parameter does not take
  await api.get("/api/v1/experiments", { query: { sortBy: "SORT_BY_LUCK" } });
  // @ts-expect-error a query where none is taken
  await api.get("/api/v1/me", { query: { deep: true } });
  // @ts-expect-error a body field by another name
  await api.patch("/api/v1/experiments/{experiment_id}", { path: { experiment_id: 7 }, body: { title: name } });
  // @ts-expect-error a body where none is taken
  await api.post("/api/v1/experiments/{experiment_id}/kill", { path: { experiment_id: 7 }, body: {} });
  // @ts-expect-error a required parameter of an address left out
  addressOf("/api/v1/lineage", { query: { kind: "trial" } });
}

describe("the door", () => {
  afterEach(() => vi.unstubAllGlobals());

  const asked = (): { calls: [string, RequestInit][] } => {
    const calls: [string, RequestInit][] = [];
    const answer = (path: string, init: RequestInit): Promise<Response> => {
      calls.push([path, init]);
      return Promise.resolve(new Response('{"experiment":{"id":7}}'));
    };
    vi.stubGlobal("fetch", answer);
    return { calls };
  };

  test("fills addresses and lists, and gives the answer", async () => {
    const { calls } = asked();

    await api.get("/api/v1/models/{model_name}/versions", { path: { model_name: "a/b ü" }, query: { limit: -1 } });
    const { experiment } = await api.get("/api/v1/experiments/{experiment_id}", { path: { experiment_id: 7 } });

    expect(calls.map(([path]) => path)).toEqual([
      "/api/v1/models/a%2Fb%20%C3%BC/versions?limit=-1",
      "/api/v1/experiments/7",
    ]);
    expect(experiment.id).toBe(7);
  });

  test("sends the body as JSON by the method it is named for", async () => {
    const { calls } = asked();

    await api.patch("/api/v1/users/{user_id}", { path: { user_id: 3 }, body: { admin: true } });

    expect(calls[0]).toMatchObject(["/api/v1/users/3", { method: "PATCH", body: '{"admin":true}' }]);
  });

  test("a parameter that is nothing is not sent", () =>
    expect(
      addressOf("/api/v1/checkpoints/{checkpoint_uuid}/file", {
        path: { checkpoint_uuid: "u" },
        query: { path: "a/b" },
      }),
    ).toBe("/api/v1/checkpoints/u/file?path=a%2Fb"));
});
