/** Colours that programs write into their logs, as spans. Cursor moves and other controls are dropped. */
export interface Span {
  text: string;
  color?: string;
  background?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
}
type Style = Omit<Span, "text">;

const NAMES = ["faint", "bad", "good", "warn", "accent", "note", "accent", "text"];
const CONTROL =
  // oxlint-disable-next-line no-control-regex -- terminals are told colours by control characters
  /\u001b\[([0-9;:]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[()][0-9A-B]|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g;

export function parseAnsi(line: string): Span[] {
  const text = afterCarriageReturn(line);
  // oxlint-disable-next-line no-control-regex -- as above
  if (!/[\u0000-\u001f\u007f]/.test(text)) return [{ text }];
  const spans: Span[] = [];
  let style: Style = {};
  let from = 0;
  const push = (to: number): void => {
    if (to > from) spans.push({ text: text.slice(from, to), ...style });
  };
  for (const match of text.matchAll(CONTROL)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = restyle(style, (match[1] ?? "").split(/[;:]/).map(Number));
  }
  push(text.length);
  return spans.length ? spans : [{ text: "" }];
}

/** A progress bar redraws its line with \r: what a terminal would show is the last stretch that has any text. */
function afterCarriageReturn(line: string): string {
  if (!line.includes("\r")) return line;
  const parts = line.split("\r").filter(Boolean);
  return parts.at(-1) ?? "";
}

function restyle(style: Style, codes: number[]): Style {
  let next: Style = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = without(next, "bold", "dim");
    else if (code === 39) next = without(next, "color");
    else if (code === 49) next = without(next, "background");
    else if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(i + 1));
      if (color) next[code === 38 ? "color" : "background"] = color;
      i += used;
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) next.color = `var(--${NAMES[code % 10]})`;
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107))
      next.background = `var(--${NAMES[code % 10]}-soft, var(--hover))`;
  }
  return next;
}

function without(style: Style, ...keys: (keyof Style)[]): Style {
  const next = { ...style };
  for (const key of keys) delete next[key];
  return next;
}

function extended(codes: number[]): [string | undefined, number] {
  if (codes[0] === 2) return [`rgb(${codes[1] ?? 0} ${codes[2] ?? 0} ${codes[3] ?? 0})`, 4];
  if (codes[0] !== 5 || codes[1] === undefined) return [undefined, 1];
  const index = codes[1];
  if (index < 16) return [`var(--${NAMES[index % 8]})`, 2];
  if (index >= 232)
    return [
      `rgb(${Array(3)
        .fill(8 + (index - 232) * 10)
        .join(" ")})`,
      2,
    ];
  const level = (n: number): number => (n ? 55 + n * 40 : 0);
  const cube = index - 16;
  return [`rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`, 2];
}
