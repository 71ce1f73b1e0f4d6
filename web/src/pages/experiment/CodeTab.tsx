/** Files of the uploaded context, and what differs from another experiment's. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { fileQuery, fileTreeQuery } from "../../api/queries";
import type { Experiment, FileNode } from "../../api/types";
import { diffLines } from "../../text/diff";
import { formatBytes } from "../../text/format";
import { languageOf } from "../../text/highlight";
import { CodeView, DiffView } from "../../ui/Code";
import { Icon } from "../../ui/Icon";
import { Empty, ErrorNote, Loading, NoRows, Panel } from "../../ui/parts";

const LARGEST_SHOWN = 1_000_000;

interface Listed extends FileNode {
  depth: number;
}

export function CodeTab({ experiment }: { experiment: Experiment }): ReactNode {
  const [chosen, setChosen] = useState("");
  const [other, setOther] = useState("");
  const tree = useQuery(fileTreeQuery(experiment.id));
  const files = useMemo(() => listed(tree.data ?? []), [tree.data]);
  const first = files.find((file) => !file.isDir);
  const path = chosen || first?.path || "";
  const otherId = Number(other) || (other === "" ? 0 : NaN);
  if (!files.length)
    return (
      <Panel>
        <ErrorNote error={tree.error} />
        <NoRows of={tree}>
          <Empty title="No code was uploaded">
            <p>
              Give a folder to <code>resolute experiment create config.yaml FOLDER</code> and its files are kept with
              the experiment.
            </p>
          </Empty>
        </NoRows>
      </Panel>
    );
  const actions = (
    <label className="check muted">
      Compare with experiment
      <input
        className="input"
        style={{ width: 80 }}
        inputMode="numeric"
        placeholder={experiment.forkedFrom ? String(experiment.forkedFrom) : "id"}
        value={other}
        onChange={(event) => setOther(event.target.value.replace(/\D/g, ""))}
      />
    </label>
  );
  return (
    <Panel title={otherId ? `Experiment ${otherId} → ${experiment.id}` : "Files"} actions={actions} flush>
      <div className="files">
        <div className="file-tree" role="tree" aria-label="Files">
          {files.map((file) => (
            <button
              key={file.path}
              type="button"
              role="treeitem"
              aria-current={file.path === path}
              disabled={file.isDir}
              style={{ paddingLeft: 8 + file.depth * 14 }}
              onClick={() => setChosen(file.path)}
            >
              <Icon name={file.isDir ? "folder" : "file"} size={14} />
              <span className="ellipsis grow">{file.name}</span>
              {!file.isDir && <span className="faint">{formatBytes(file.contentLength ?? 0)}</span>}
            </button>
          ))}
        </div>
        {otherId ? (
          <FileDiff left={otherId} right={experiment.id} path={path} />
        ) : (
          <FileText
            id={experiment.id}
            path={path}
            size={files.find((file) => file.path === path)?.contentLength ?? 0}
          />
        )}
      </div>
    </Panel>
  );
}

function listed(nodes: readonly FileNode[], depth = 0): Listed[] {
  const sorted = [...nodes].sort((a, b) => Number(b.isDir) - Number(a.isDir) || a.name.localeCompare(b.name));
  return sorted.flatMap((node) => [{ ...node, depth }, ...listed(node.files ?? [], depth + 1)]);
}

function FileText({ id, path, size }: { id: number; path: string; size: number }): ReactNode {
  const isLarge = size > LARGEST_SHOWN;
  const file = useQuery({ ...fileQuery(id, path), enabled: !!path && !isLarge });
  if (isLarge)
    return (
      <Empty title={`${path} is ${formatBytes(size)}`}>
        <p>Files over {formatBytes(LARGEST_SHOWN)} are not shown.</p>
      </Empty>
    );
  if (file.error) return <ErrorNote error={file.error} />;
  if (file.data === undefined) return <Loading />;
  if (file.data.includes("\u0000")) return <Empty title={`${path} is not text`} />;
  return <CodeView text={file.data} language={languageOf(path)} />;
}

function FileDiff({ left, right, path }: { left: number; right: number; path: string }): ReactNode {
  const [before, after] = useQueries({ queries: [{ ...fileQuery(left, path), retry: false }, fileQuery(right, path)] });
  const lines = useMemo(
    () => (after.data === undefined || before.isPending ? [] : diffLines(before.data ?? "", after.data)),
    [before.data, before.isPending, after.data],
  );
  if (before.isPending || after.isPending) return <Loading />;
  if (after.error) return <ErrorNote error={after.error} />;
  if (before.data === after.data) return <Empty title={`${path} is the same in both experiments`} />;
  return (
    <div>
      {before.error && <ErrorNote error={before.error} />}
      <DiffView lines={lines} />
    </div>
  );
}
