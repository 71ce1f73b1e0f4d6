/** From dataset to deployment: what a thing was made from and what was made from it, and which from which. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, type CSSProperties, type ReactNode } from "react";
import { Link } from "react-router";
import type { Answer } from "../../api/client";
import { lineageQuery, type LineageKind } from "../../api/queries";
import { formatTime } from "../../text/format";
import { Empty, ErrorNote, Loading } from "../../ui/parts";
import { placed, type PlacedNode } from "./lineageLayout";

type Node = Answer<"get", "/api/v1/lineage">["nodes"][number];

const ORDER: readonly (readonly [LineageKind, string])[] = [
  ["dataset", "Dataset"],
  ["experiment", "Experiment"],
  ["trial", "Trial"],
  ["checkpoint", "Checkpoint"],
  ["model_version", "Model version"],
  ["deployment", "Deployment"],
];

const COLUMN_PX = 184;
const GAP_PX = 40;
const ROW_PX = 30;
const HEAD_PX = 24;
const CHIP_PX = 20;
const KINDS = ORDER.map(([kind]) => kind);
const TITLES = new Map<string, string>(ORDER);

export function Lineage({ kind, id }: { kind: LineageKind; id: string }): ReactNode {
  const query = useQuery(lineageQuery(kind, id));
  const layout = useMemo(() => placed(query.data?.nodes ?? [], query.data?.edges ?? [], KINDS), [query.data]);
  if (query.isPending) return <Loading rows={2} />;
  if (query.error) return <ErrorNote error={query.error} />;
  if (!layout.nodes.length) return <Empty title="Nothing is known of its origin" />;
  const spot = new Map(layout.nodes.map((each) => [each.node.key, each]));
  const [width, height] = [layout.columns.length * (COLUMN_PX + GAP_PX), HEAD_PX + layout.rows * ROW_PX];
  return (
    <div className="lineage" tabIndex={0} role="group" aria-label="Lineage">
      <div style={{ width, height }}>
        <svg width={width} height={height} aria-hidden>
          {query.data.edges.map((edge) => {
            const [from, to] = [spot.get(edge.from), spot.get(edge.to)];
            return from && to && <path key={`${edge.from} ${edge.to}`} d={curve(from, to)} />;
          })}
        </svg>
        {layout.columns.map((key, column) => (
          <span key={key} className="label" style={{ left: leftOf(column) }}>
            {TITLES.get(key)}
          </span>
        ))}
        {layout.nodes.map(({ node, column, row }) => (
          <Chip
            key={node.key}
            node={node}
            style={{ left: leftOf(column), top: topOf(row), maxWidth: COLUMN_PX }}
            isHere={node.kind === kind && (node.id === id || node.id.startsWith(`${id}/`))}
          />
        ))}
      </div>
      {query.data.isTruncated && <p className="muted">There is more than fits here; open one of these to see on.</p>}
    </div>
  );
}

const leftOf = (column: number): number => column * (COLUMN_PX + GAP_PX);
const topOf = (row: number): number => HEAD_PX + row * ROW_PX;

/** From the end of one column to the start of the next; the names in between stand over it. */
function curve(from: PlacedNode<Node>, to: PlacedNode<Node>): string {
  const [x0, y0] = [leftOf(from.column), topOf(from.row) + CHIP_PX / 2];
  const [x1, y1] = [leftOf(to.column), topOf(to.row) + CHIP_PX / 2];
  const bend = x0 + COLUMN_PX;
  return `M${x0} ${y0}H${bend}C${bend + GAP_PX / 2} ${y0} ${x1 - GAP_PX / 2} ${y1} ${x1} ${y1}`;
}

function Chip({ node, isHere, style }: { node: Node; isHere: boolean; style: CSSProperties }): ReactNode {
  const to = addressOf(node);
  const className = `badge ${isHere ? "accent" : ""}`;
  const label = node.name || node.id;
  const when = node.time ? `, ${formatTime(node.time)}` : "";
  return to ? (
    <Link className={className} to={to} style={style} title={`${label}${when}`} aria-current={isHere || undefined}>
      {node.kind === "checkpoint" && label.length > 20 ? label.slice(0, 8) : label}
    </Link>
  ) : (
    <span className={`${className} mono`} style={style} title={`${node.id}${when}`}>
      {label.length > 20 ? label.slice(0, 8) : label}
    </span>
  );
}

function addressOf(node: Node): string | null {
  switch (node.kind) {
    case "experiment":
      return `/experiments/${node.id}`;
    case "trial":
      return `/trials/${node.id}`;
    case "dataset":
      return `/datasets/${node.name.split(":").map(encodeURIComponent).join("/")}`;
    case "model_version":
      return `/models/${encodeURIComponent(node.name.split("/")[0] ?? "")}`;
    case "deployment":
      return `/deployments/${encodeURIComponent(node.name.split("/")[0] ?? "")}`;
    case "checkpoint":
      return `/checkpoints/${node.id}`;
    default:
      return null;
  }
}
