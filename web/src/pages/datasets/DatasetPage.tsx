/** One dataset: its versions, what is in the chosen one, its pictures with their labels, and who used it. */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { datasetVersionsQuery, type ImageFilter } from "../../api/queries";
import type { Dataset } from "../../api/types";
import { formatBytes, formatCount } from "../../text/format";
import { Ago, Empty, ErrorNote, Facts, Loading, PageHead, Panel } from "../../ui/parts";
import { Lineage } from "../models/Lineage";
import { countOf } from "./DatasetsPage";
import { ImageGrid } from "./ImageGrid";

export default function DatasetPage(): ReactNode {
  const { name = "", version } = useParams();
  const navigate = useNavigate();
  const query = useQuery(datasetVersionsQuery(name));
  if (query.isPending) return <Loading />;
  const versions = query.data ?? [];
  const shown = versions.find((each) => String(each.version) === version) ?? versions[0];
  if (!shown) return <ErrorNote error={query.error ?? new Error(`There is no dataset ${name}.`)} />;
  return (
    <>
      <PageHead
        title={shown.name}
        crumbs={[{ label: "Datasets", to: "/datasets" }]}
        actions={
          <select
            className="select"
            aria-label="Version"
            value={shown.version}
            onChange={(event) => void navigate(`/datasets/${encodeURIComponent(name)}/${event.target.value}`)}
          >
            {versions.map((each) => (
              <option key={each.version} value={each.version}>
                Version {each.version}
                {each === versions[0] ? ", newest" : ""}
              </option>
            ))}
          </select>
        }
      >
        {shown.description && <span className="muted">{shown.description}</span>}
      </PageHead>
      <Version key={shown.version} dataset={shown} />
    </>
  );
}

function Version({ dataset }: { dataset: Dataset }): ReactNode {
  const [filter, setFilter] = useState<ImageFilter>({ annotation: 0, category: null });
  const counts = boxesPerClass(dataset, filter.annotation);
  return (
    <div className="stack">
      <Panel>
        <Facts
          items={[
            ["Name in a configuration", <code key="r">{dataset.reference}</code>],
            ["Images", countOf(dataset, "images")],
            ["Labels", countOf(dataset, "annotations")],
            ["Classes", dataset.classes?.length ?? 0],
            ["Files", `${formatCount(Number(dataset.fileCount))}, ${formatBytes(dataset.size)}`],
            [
              "Where",
              <span key="w" className="mono">
                {dataset.uri}
              </span>,
            ],
            ["Registered", <Ago key="a" when={dataset.createdAt} />],
            ["By", dataset.username],
            [
              "Content",
              <span key="c" className="mono" title={dataset.contentHash}>
                {dataset.contentHash.slice(0, 12)}
              </span>,
            ],
            dataset.parents?.length ? ["Made from", <Parents key="p" references={dataset.parents} />] : null,
          ]}
        />
      </Panel>
      <Panel title="Where it comes from and where it went">
        <Lineage kind="dataset" id={dataset.reference} />
      </Panel>
      {dataset.annotations?.length ? (
        <>
          <Panel title="Pictures" flush>
            <ImageGrid dataset={dataset} filter={filter} onFilter={setFilter} />
          </Panel>
          <Panel title="Classes" flush>
            <ClassTable dataset={dataset} counts={counts} filter={filter} onFilter={setFilter} />
          </Panel>
        </>
      ) : (
        <Panel>
          <Empty title="This version has no label files">
            <p>Register it with --annotations to look at its pictures.</p>
          </Empty>
        </Panel>
      )}
    </div>
  );
}

function Parents({ references }: { references: readonly string[] }): ReactNode {
  return references.map((reference, at) => (
    <span key={reference}>
      {at > 0 && ", "}
      <Link to={`/datasets/${reference.split(":").map(encodeURIComponent).join("/")}`}>{reference}</Link>
    </span>
  ));
}

/** Class name to (labels, images) of one label file, as far as its statistics tell. */
function boxesPerClass(dataset: Dataset, at: number): Map<string, { annotations: number; images: number }> {
  const files = dataset.statistics?.["label_files"];
  const file = Array.isArray(files) ? (files[at] as Record<string, unknown> | undefined) : undefined;
  const found = new Map<string, { annotations: number; images: number }>();
  const classes = file?.["classes"];
  if (!Array.isArray(classes)) return found;
  for (const each of classes as Record<string, unknown>[]) {
    found.set(String(each["name"]), {
      annotations: Number(each["annotations"] ?? 0),
      images: Number(each["images"] ?? 0),
    });
  }
  return found;
}

interface ClassProps {
  dataset: Dataset;
  counts: ReturnType<typeof boxesPerClass>;
  filter: ImageFilter;
  onFilter: (filter: ImageFilter) => void;
}

function ClassTable({ dataset, counts, filter, onFilter }: ClassProps): ReactNode {
  const most = Math.max(1, ...[...counts.values()].map((count) => count.annotations));
  return (
    <div className="table-wrap" style={{ maxHeight: 420 }}>
      <table className="table" aria-label="Classes">
        <thead>
          <tr>
            <th className="num">Id</th>
            <th>Class</th>
            <th className="num">Labels</th>
            <th style={{ width: "30%" }}>
              <span className="sr">Share</span>
            </th>
            <th className="num">Images</th>
          </tr>
        </thead>
        <tbody>
          {(dataset.classes ?? []).map((each) => {
            const count = counts.get(each.name);
            return (
              <tr key={each.id} className={filter.category === each.id ? "selected" : ""}>
                <td className="num">{each.id}</td>
                <td>
                  <button
                    className="link"
                    onClick={() => onFilter({ ...filter, category: filter.category === each.id ? null : each.id })}
                  >
                    {each.name}
                  </button>
                </td>
                <td className="num">{count ? formatCount(count.annotations) : "–"}</td>
                <td>
                  <div className="bar" aria-hidden>
                    <i style={{ width: `${(100 * (count?.annotations ?? 0)) / most}%` }} />
                  </div>
                </td>
                <td className="num">{count ? formatCount(count.images) : "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
