/** A JSON value as YAML text for people to read. Only writes; reading YAML is the server's job. */
export function toYaml(value: unknown, indent = 0): string {
  const pad = "  ".repeat(indent);
  if (Array.isArray(value)) {
    if (!value.length) return `${pad}[]\n`;
    return value
      .map((item) => (isNode(item) ? `${pad}- ${toYaml(item, indent + 1).trimStart()}` : `${pad}- ${scalar(item)}\n`))
      .join("");
  }
  if (value && typeof value === "object") {
    const entries = Object.entries(value);
    if (!entries.length) return `${pad}{}\n`;
    return entries
      .map(
        ([key, item]) =>
          `${pad}${scalar(key)}:${isNode(item) ? `\n${toYaml(item, indent + 1)}` : ` ${inline(item)}\n`}`,
      )
      .join("");
  }
  return `${pad}${scalar(value)}\n`;
}

const isNode = (value: unknown): boolean => !!value && typeof value === "object" && Object.keys(value).length > 0;
const inline = (value: unknown): string =>
  Array.isArray(value) ? "[]" : value && typeof value === "object" ? "{}" : scalar(value);

function scalar(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value !== "string") return String(value);
  const plain =
    /^[A-Za-z_./][\w ./@+-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n|~)$/i.test(value) &&
    !value.endsWith(" ");
  return plain ? value : JSON.stringify(value);
}
