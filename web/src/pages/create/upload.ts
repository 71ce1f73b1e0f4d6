/** Files as the server takes them: base64 content with the mode bits of an ordinary file. */
import type { Request } from "../../api/client";

export type WireFile = NonNullable<Request<"post", "/api/v1/experiments">["body"]["modelDefinition"]>[number];

const REGULAR = 48;
const DIRECTORY = 53;
const FILE_MODE = 0o100644;
const FOLDER_MODE = 0o40755;
const SKIPPED = /(^|\/)(__pycache__|\.git|\.venv|node_modules|\.mypy_cache)(\/|$)|\.py[co]$/;
export const LARGEST_CONTEXT = 95 * 1024 * 1024;

export interface Picked {
  path: string;
  bytes: Uint8Array;
}

/** Directories come before what is in them. */
export function wireFiles(files: readonly Picked[], mtime = 0): WireFile[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, i) => folders.add(parts.slice(0, i + 1).join("/")));
  }
  const base = { mtime, uid: 0, gid: 0 };
  return [
    ...[...folders].sort().map((path) => ({ ...base, path, type: DIRECTORY, content: "", mode: FOLDER_MODE })),
    ...files.map(({ path, bytes }) => ({ ...base, path, type: REGULAR, content: base64(bytes), mode: FILE_MODE })),
  ];
}

/** Files chosen in a folder dialog, by their place inside that folder. */
export async function readPicked(list: FileList): Promise<Picked[]> {
  const wanted = [...list]
    .map((file) => ({ file, path: insideFolder(file) }))
    .filter(({ path }) => !SKIPPED.test(path));
  const total = wanted.reduce((sum, { file }) => sum + file.size, 0);
  if (total > LARGEST_CONTEXT)
    throw new Error(
      `The folder holds ${Math.round(total / 1e6)} MB; at most ${Math.round(LARGEST_CONTEXT / 1e6)} MB can be uploaded. Keep data out of it.`,
    );
  return Promise.all(wanted.map(async ({ file, path }) => ({ path, bytes: new Uint8Array(await file.arrayBuffer()) })));
}

function insideFolder(file: File): string {
  const parts = (file.webkitRelativePath || file.name).split("/");
  return parts.length > 1 ? parts.slice(1).join("/") : parts[0]!;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  const chunk = 0x8000;
  for (let at = 0; at < bytes.length; at += chunk) text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(text);
}

export const textFile = (path: string, text: string): Picked => ({ path, bytes: new TextEncoder().encode(text) });
