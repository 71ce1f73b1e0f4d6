/** Every registered model, the one changed last first. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "react-router";
import { api } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import type { Model } from "../../api/types";
import { DataTable, type Column } from "../../ui/DataTable";
import { Icon } from "../../ui/Icon";
import { Ago, Empty, ErrorNote, NoRows, PageHead, Panel } from "../../ui/parts";
import { NameDialog } from "../NameDialog";

const COLUMNS: readonly Column<Model>[] = [
  {
    id: "name",
    title: "Model",
    cell: (model) => (
      <span className="row">
        <Link to={`/models/${encodeURIComponent(model.name)}`}>{model.name}</Link>
        {model.archived && <span className="badge">Archived</span>}
      </span>
    ),
  },
  { id: "versions", title: "Versions", numeric: true, cell: (model) => model.numVersions },
  {
    id: "description",
    title: "Description",
    cell: (model) => <span className="muted ellipsis">{model.description}</span>,
  },
  {
    id: "labels",
    title: "Labels",
    cell: (model) => (
      <span className="row">
        {(model.labels ?? []).map((label) => (
          <span key={label} className="badge">
            {label}
          </span>
        ))}
      </span>
    ),
  },
  { id: "user", title: "By", cell: (model) => model.username },
  { id: "updated", title: "Changed", numeric: true, cell: (model) => <Ago when={model.lastUpdatedTime} /> },
];
const rowId = (model: Model): string => model.name;

export default function ModelsPage(): ReactNode {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [archived, setArchived] = useState(false);
  const [adding, setAdding] = useState(false);
  const models = useQuery(modelsQuery({ ...(name ? { name } : {}), ...(archived ? {} : { archived: false }) }));
  const add = async (model: { name: string; description: string }): Promise<void> => {
    await api.post("/api/v1/models", { body: model });
    await client.invalidateQueries({ queryKey: ["models"] });
  };
  return (
    <>
      <PageHead
        title="Models"
        actions={
          <button className="btn primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            New model
          </button>
        }
      />
      <ErrorNote error={models.error} />
      <Panel
        flush
        title="Registered models"
        actions={
          <>
            <label className="check">
              <input type="checkbox" checked={archived} onChange={(event) => setArchived(event.target.checked)} />
              Archived too
            </label>
            <input
              className="input"
              type="search"
              placeholder="Find by name"
              aria-label="Find by name"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </>
        }
      >
        <DataTable
          label="Models"
          rows={models.data ?? []}
          columns={COLUMNS}
          rowId={rowId}
          empty={
            <NoRows of={models}>
              {name ? (
                <Empty title={`No model has “${name}” in its name`} />
              ) : (
                <Empty title="No model is registered yet">
                  <p>
                    A model is a name with versions, each of them one checkpoint. Open an experiment, go to its
                    checkpoints and register the best one.
                  </p>
                  <Link className="btn" to="/experiments">
                    Go to the experiments
                  </Link>
                </Empty>
              )}
            </NoRows>
          }
        />
      </Panel>
      {adding && (
        <NameDialog title="New model" action="Create" describe onClose={() => setAdding(false)} onSave={add} />
      )}
    </>
  );
}
