/** The files of an experiment as a new one takes them, so that a fork runs the code of its parent. */
import { get, post } from "../../api/http";
import type { FileNode } from "../../api/types";
import { wireFiles, type Picked, type WireFile } from "./upload";

const AT_ONCE = 6;

export async function parentCode(experimentId: number): Promise<WireFile[]> {
  const { files } = await get<{ files: FileNode[] }>(`/api/v1/experiments/${experimentId}/file_tree`);
  const paths = filesIn(files ?? []);
  const picked: Picked[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    picked.push(...(await Promise.all(paths.slice(at, at + AT_ONCE).map((path) => fetchFile(experimentId, path)))));
  }
  return wireFiles(picked);
}

const filesIn = (nodes: readonly FileNode[]): string[] =>
  nodes.flatMap((node) => (node.isDir ? filesIn(node.files ?? []) : [node.path]));

async function fetchFile(experimentId: number, path: string): Promise<Picked> {
  const { file } = await post<{ file: string }>(`/api/v1/experiments/${experimentId}/file`, { experimentId, path });
  return { path, bytes: Uint8Array.from(atob(file), (char) => char.charCodeAt(0)) };
}
