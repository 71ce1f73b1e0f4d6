import { expect, test } from "vitest";
import { placed } from "../src/pages/models/lineageLayout";

const node = (key: string): { key: string; kind: string } => ({ key, kind: key.split(":")[0]! });
const KINDS = ["dataset", "trial", "version"];

test("what was made of something stands on its line, in whichever order the server names them", () => {
  const nodes = ["dataset:a", "trial:1", "trial:2", "version:x", "version:y"].map(node);
  const edges = [
    { from: "dataset:a", to: "trial:1" },
    { from: "dataset:a", to: "trial:2" },
    { from: "trial:1", to: "version:y" },
    { from: "trial:2", to: "version:x" },
  ];

  const layout = placed(nodes, edges, KINDS);

  const row = new Map(layout.nodes.map((each) => [each.node.key, each.row]));
  expect(row.get("version:y")).toBe(row.get("trial:1"));
  expect(row.get("version:x")).toBe(row.get("trial:2"));
  expect(layout.rows).toBe(2);
});

test("no two things of a kind stand in one place, and kinds without members have no column", () => {
  const nodes = ["dataset:a", "dataset:b", "dataset:c"].map(node);

  const layout = placed(nodes, [], KINDS);

  expect(layout.columns).toEqual(["dataset"]);
  expect(new Set(layout.nodes.map((each) => each.row)).size).toBe(3);
});
