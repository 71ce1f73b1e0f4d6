/** Notes in markdown as React elements: headings, lists, quotes, code, tables, links. Never as raw HTML. */
import type { ReactNode } from "react";

export function Markdown({ text }: { text: string }): ReactNode {
  return <div className="prose">{blocks(text.split("\n"))}</div>;
}

function blocks(lines: string[]): ReactNode[] {
  const out: ReactNode[] = [];
  let at = 0;
  const take = (test: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && test(lines[at]!)) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const key = at;
    const heading = /^(#{1,4})\s+(.*)$/.exec(line);
    if (!line.trim()) at++;
    else if (line.startsWith("```")) {
      at++;
      const body = take((next) => !next.startsWith("```"));
      at++;
      out.push(
        <pre key={key}>
          <code>{body.join("\n")}</code>
        </pre>,
      );
    } else if (heading) {
      at++;
      const Tag = (["h2", "h3", "h4", "h4"] as const)[heading[1]!.length - 1]!;
      out.push(<Tag key={key}>{inline(heading[2]!)}</Tag>);
    } else if (/^>\s?/.test(line)) {
      out.push(
        <blockquote key={key}>
          {blocks(take((next) => /^>/.test(next)).map((next) => next.replace(/^>\s?/, "")))}
        </blockquote>,
      );
    } else if (/^\s*[-*]\s+/.test(line)) {
      out.push(
        <ul key={key}>
          {take((next) => /^\s*[-*]\s+/.test(next)).map((item, i) => (
            <li key={i}>{inline(item.replace(/^\s*[-*]\s+/, ""))}</li>
          ))}
        </ul>,
      );
    } else if (/^\s*\d+\.\s+/.test(line)) {
      out.push(
        <ol key={key}>
          {take((next) => /^\s*\d+\.\s+/.test(next)).map((item, i) => (
            <li key={i}>{inline(item.replace(/^\s*\d+\.\s+/, ""))}</li>
          ))}
        </ol>,
      );
    } else if (/^\|/.test(line) && /^\|[\s:|-]+$/.test(lines[at + 1] ?? "")) {
      out.push(
        table(
          take((next) => /^\|/.test(next)),
          key,
        ),
      );
    } else
      out.push(
        <p key={key}>
          {inline(take((next) => !!next.trim() && !/^(#|>|```|\||\s*[-*]\s)/.test(next)).join("\n") || lines[at++]!)}
        </p>,
      );
  }
  return out;
}

function table(rows: string[], key: number): ReactNode {
  const cells = (row: string): string[] =>
    row
      .replace(/^\||\|\s*$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  return (
    <table key={key}>
      <thead>
        <tr>
          {cells(rows[0]!).map((cell, i) => (
            <th key={i}>{inline(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(2).map((row, r) => (
          <tr key={r}>
            {cells(row).map((cell, i) => (
              <td key={i}>{inline(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s)]+)/g;

function inline(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    out.push(text.slice(from, match.index));
    const [whole, code, bold, italic, label, target, bare] = match;
    const key = match.index;
    if (code) out.push(<code key={key}>{code}</code>);
    else if (bold) out.push(<strong key={key}>{bold}</strong>);
    else if (italic) out.push(<em key={key}>{italic}</em>);
    else out.push(link(label ?? bare!, target ?? bare!, key));
    from = match.index + whole.length;
  }
  out.push(text.slice(from));
  return out;
}

/** Only addresses that lead somewhere harmless become links. */
function link(label: string, target: string, key: number): ReactNode {
  if (!/^(https?:\/\/|\/|#|mailto:)/i.test(target)) return label;
  return (
    <a key={key} href={target} target="_blank" rel="noreferrer noopener">
      {label}
    </a>
  );
}
