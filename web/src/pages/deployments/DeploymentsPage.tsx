/** Everything that is served: under which name, by which model, and how traffic is split. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { deploymentsQuery } from "../../api/deployments";
import { useLive } from "../../api/events";
import type { Deployment } from "../../api/types";
import { DataTable, type Column } from "../../ui/DataTable";
import { Icon } from "../../ui/Icon";
import { Ago, Empty, ErrorNote, NoRows, PageHead, Panel, StateBadge } from "../../ui/parts";
import { CreateDialog } from "./CreateDialog";
import { roleOf, sourceLabel } from "./traffic";
import { SplitBar } from "./TrafficSplit";

const COLUMNS: readonly Column<Deployment>[] = [
  { id: "name", title: "Deployment", cell: (row) => <Link to={`/deployments/${row.name}`}>{row.name}</Link> },
  { id: "state", title: "State", cell: (row) => <StateBadge state={row.state} /> },
  { id: "model", title: "Model", cell: (row) => <Served deployment={row} /> },
  {
    id: "traffic",
    title: "Traffic",
    width: 180,
    cell: (row) => <SplitBar deployment={row} thin />,
  },
  { id: "replicas", title: "Replicas", numeric: true, cell: replicasOf },
  { id: "url", title: "Address", cell: (row) => <span className="mono muted">{row.url}</span> },
  { id: "time", title: "Changed", numeric: true, cell: (row) => <Ago when={row.updatedAt} /> },
];
const rowId = (row: Deployment): string => row.name;

export default function DeploymentsPage(): ReactNode {
  const client = useQueryClient();
  const [search, setSearch] = useSearchParams();
  const [creating, setCreating] = useState(search.has("model"));
  useLive(["deployments"], [["deployments"]]);
  const query = useQuery({ ...deploymentsQuery, refetchInterval: 5000 });
  const start = (
    <button className="btn primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      New deployment
    </button>
  );
  return (
    <>
      <PageHead title="Deployments" actions={start} />
      <ErrorNote error={query.error} />
      <Panel flush title="Served now">
        <DataTable
          label="Deployments"
          rows={query.data ?? []}
          columns={COLUMNS}
          rowId={rowId}
          empty={
            <NoRows of={query}>
              <Empty title="Nothing is deployed yet">
                <p>A deployment serves a version of a model under a name, over the protocols of KServe.</p>
                <code>resolute deploy create NAME --model MODEL/VERSION</code>
                <Link className="btn" to="/models">
                  Choose a model
                </Link>
              </Empty>
            </NoRows>
          }
        />
      </Panel>
      {creating && (
        <CreateDialog
          model={search.get("model") ?? ""}
          version={search.get("version") ?? ""}
          onClose={() => {
            setCreating(false);
            setSearch({}, { replace: true });
            void client.invalidateQueries({ queryKey: ["deployments"] });
          }}
        />
      )}
    </>
  );
}

/** The model that answers most; a canary is named beside it. */
function Served({ deployment }: { deployment: Deployment }): ReactNode {
  const shown = deployment.revisions.filter((each) => ["stable", "canary"].includes(roleOf(deployment, each.number)));
  const all = shown.length ? shown : deployment.revisions.slice(0, 1);
  return [...all]
    .sort((a, b) => a.number - b.number)
    .map((each, at) => (
      <span key={each.number}>
        {at > 0 && <span className="faint"> and </span>}
        {each.modelName ? (
          <Link to={`/models/${encodeURIComponent(each.modelName)}`}>{sourceLabel(each.source)}</Link>
        ) : (
          <span className="mono">{sourceLabel(each.source)}</span>
        )}
      </span>
    ));
}

function replicasOf(deployment: Deployment): string {
  const sum = (key: "replicasReady" | "replicasWanted"): number =>
    deployment.revisions.reduce((total, each) => total + each[key], 0);
  return `${sum("replicasReady")} of ${sum("replicasWanted")}`;
}
