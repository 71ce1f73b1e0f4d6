/** The files of an experiment as a new one takes them, so that a fork runs the code of its parent. */
import { api } from "../../api/client";
import { fileBytes } from "../../api/queries";
import type { FileNode } from "../../api/types";
import { wireFiles, type Picked, type WireFile } from "./upload";

const AT_ONCE = 6;

export async function parentCode(experimentId: number): Promise<WireFile[]> {
  const { files } = await api.get("/api/v1/experiments/{experiment_id}/file_tree", {
    path: { experiment_id: experimentId },
  });
  const paths = filesIn(files);
  const picked: Picked[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    picked.push(...(await Promise.all(paths.slice(at, at + AT_ONCE).map((path) => fetchFile(experimentId, path)))));
  }
  return wireFiles(picked);
}

const filesIn = (nodes: readonly FileNode[]): string[] =>
  nodes.flatMap((node) => (node.isDir ? filesIn(node.files ?? []) : [node.path]));

async function fetchFile(experimentId: number, path: string): Promise<Picked> {
  return { path, bytes: await fileBytes(experimentId, path) };
}
