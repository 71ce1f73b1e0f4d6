/** From dataset to deployment: what a thing was made from and what was made from it, one column a kind. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { lineageQuery, type LineageKind } from "../../api/queries";
import { Icon } from "../../ui/Icon";
import { Empty, ErrorNote, Loading } from "../../ui/parts";

interface Node {
  kind: string;
  id: string;
  name: string;
}

const ORDER: readonly (readonly [LineageKind, string])[] = [
  ["dataset", "Dataset"],
  ["experiment", "Experiment"],
  ["trial", "Trial"],
  ["checkpoint", "Checkpoint"],
  ["model_version", "Model version"],
  ["deployment", "Deployment"],
];

export function Lineage({ kind, id }: { kind: LineageKind; id: string }): ReactNode {
  const query = useQuery(lineageQuery(kind, id));
  if (query.isPending) return <Loading rows={2} />;
  if (query.error) return <ErrorNote error={query.error} />;
  const nodes = query.data.nodes;
  const columns = ORDER.map(([key, title]) => [title, nodes.filter((node) => node.kind === key)] as const);
  const used = columns.filter(([, members]) => members.length);
  if (!used.length) return <Empty title="Nothing is known of its origin" />;
  return (
    <div className="lineage">
      {used.map(([title, members], at) => (
        <div key={title} className="row" style={{ alignItems: "flex-start" }}>
          {at > 0 && (
            <span className="faint" style={{ paddingTop: 20 }}>
              <Icon name="right" />
            </span>
          )}
          <div className="stack tight">
            <span className="label">{title}</span>
            {members.map((node) => (
              <Chip
                key={node.id}
                node={node}
                isHere={node.kind === kind && (node.id === id || node.id.startsWith(`${id}/`))}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

function Chip({ node, isHere }: { node: Node; isHere: boolean }): ReactNode {
  const to = addressOf(node);
  const className = `badge ${isHere ? "accent" : ""}`;
  const label = node.name || node.id;
  return to ? (
    <Link className={className} to={to}>
      {label}
    </Link>
  ) : (
    <span className={`${className} mono`} title={node.id}>
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
