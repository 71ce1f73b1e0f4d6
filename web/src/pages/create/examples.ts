/** The examples of this source tree, packed at build time: the same files that the tests run. */
export interface Example {
  name: string;
  config: string;
  files: Record<string, string>;
}

const sources: Record<string, string> = import.meta.glob(["../../../../examples/*/*.{yaml,yml,py}"], {
  query: "?raw",
  import: "default",
  eager: true,
});

export function examples(): Example[] {
  const folders = new Map<string, Record<string, string>>();
  for (const [path, text] of Object.entries(sources)) {
    const [folder, file] = path.split("/").slice(-2) as [string, string];
    folders.set(folder, { ...folders.get(folder), [file]: text });
  }
  return [...folders]
    .flatMap(([folder, files]) =>
      Object.keys(files)
        .filter((file) => /\.ya?ml$/.test(file))
        .sort()
        .map((file) => ({ name: configName(folder, file), config: files[file]!, files })),
    )
    .sort((a, b) => a.name.localeCompare(b.name));
}

function configName(folder: string, file: string): string {
  const base = file.replace(/\.ya?ml$/, "");
  return base === "config" || base === "const" ? folder : `${folder}: ${base}`;
}
