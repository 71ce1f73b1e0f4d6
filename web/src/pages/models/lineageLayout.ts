/** Where the things of a lineage stand: a column a kind, what belongs together on one line, an edge for each origin. Pure. */
export interface LineageNode {
  key: string;
  kind: string;
}
export interface LineageEdge {
  from: string;
  to: string;
}
export interface PlacedNode<N> {
  node: N;
  column: number;
  row: number;
}

export function placed<N extends LineageNode>(
  nodes: readonly N[],
  edges: readonly LineageEdge[],
  kinds: readonly string[],
): { nodes: PlacedNode<N>[]; rows: number; columns: string[] } {
  const columns = kinds.filter((kind) => nodes.some((node) => node.kind === kind));
  const rowOf = new Map<string, number>();
  const all: PlacedNode<N>[] = [];
  columns.forEach((kind, column) => {
    const members = nodes
      .filter((node) => node.kind === kind)
      .map((node) => ({ node, wish: wishOf(node.key, edges, rowOf) }))
      .sort((a, b) => a.wish - b.wish);
    let free = 0;
    for (const { node, wish } of members) {
      const row = Math.max(free, Math.floor(wish));
      rowOf.set(node.key, row);
      all.push({ node, column, row });
      free = row + 1;
    }
  });
  return { nodes: all, columns, rows: 1 + Math.max(-1, ...all.map(({ row }) => row)) };
}

/** Beside what it was made of. */
function wishOf(key: string, edges: readonly LineageEdge[], rowOf: ReadonlyMap<string, number>): number {
  const origins = edges.flatMap((edge) => (edge.to === key ? (rowOf.get(edge.from) ?? []) : []));
  return origins.length ? Math.min(...origins) : 0;
}
