/** Every dataset with its newest version. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link } from "react-router";
import { datasetsQuery } from "../../api/queries";
import type { Dataset } from "../../api/types";
import { formatBytes, formatCount } from "../../text/format";
import { DataTable, type Column } from "../../ui/DataTable";
import { Ago, Empty, ErrorNote, NoRows, PageHead, Panel } from "../../ui/parts";

export const countOf = (dataset: Dataset, key: "images" | "annotations"): string => {
  const value = dataset.statistics?.[key];
  return typeof value === "number" ? formatCount(value) : "–";
};

const COLUMNS: readonly Column<Dataset>[] = [
  { id: "name", title: "Dataset", cell: (row) => <Link to={`/datasets/${row.name}`}>{row.name}</Link> },
  { id: "version", title: "Newest", numeric: true, cell: (row) => row.version },
  { id: "images", title: "Images", numeric: true, cell: (row) => countOf(row, "images") },
  { id: "boxes", title: "Labels", numeric: true, cell: (row) => countOf(row, "annotations") },
  { id: "classes", title: "Classes", numeric: true, cell: (row) => row.classes?.length ?? 0 },
  { id: "size", title: "Size", numeric: true, cell: (row) => formatBytes(row.size) },
  { id: "text", title: "Description", cell: (row) => <span className="muted ellipsis">{row.description}</span> },
  { id: "user", title: "By", cell: (row) => row.username },
  { id: "time", title: "Registered", numeric: true, cell: (row) => <Ago when={row.createdAt} /> },
];
const rowId = (row: Dataset): string => row.name;

export default function DatasetsPage(): ReactNode {
  const [name, setName] = useState("");
  const query = useQuery(datasetsQuery(name));
  const newest = useMemo(() => {
    const found = new Map<string, Dataset>();
    for (const each of query.data ?? []) if (!found.has(each.name)) found.set(each.name, each);
    return [...found.values()];
  }, [query.data]);
  return (
    <>
      <PageHead title="Datasets" />
      <ErrorNote error={query.error} />
      <Panel
        flush
        title="Registered datasets"
        actions={
          <input
            className="input"
            type="search"
            placeholder="Find by name"
            aria-label="Find by name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        }
      >
        <DataTable
          label="Datasets"
          rows={newest}
          columns={COLUMNS}
          rowId={rowId}
          empty={
            <NoRows of={query}>
              {name ? (
                <Empty title={`No dataset has “${name}” in its name`} />
              ) : (
                <Empty title="No dataset is registered yet">
                  <p>A dataset version holds the digests of its files, its classes and where it came from.</p>
                  <code>resolute dataset create NAME FOLDER</code>
                </Empty>
              )}
            </NoRows>
          }
        />
      </Panel>
    </>
  );
}
