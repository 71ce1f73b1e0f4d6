/** Line diff of two texts (Myers' greedy algorithm), folded to what changed with a few lines around it. */
export interface DiffLine {
  kind: "same" | "add" | "del" | "skip";
  text: string;
  left?: number;
  right?: number;
}

const CONTEXT = 3;
const MAX_EDITS = 4000;

export function diffLines(left: string, right: string): DiffLine[] {
  const [a, b] = [linesOf(left), linesOf(right)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const middle = myers(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return numbered([...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]);
}

/** Keep changes and `CONTEXT` lines around them; longer stretches become one `skip` line. */
export function foldDiff(lines: DiffLine[]): DiffLine[] {
  const keep = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind === "same") return;
    for (let near = at - CONTEXT; near <= at + CONTEXT; near++) keep.add(near);
  });
  const out: DiffLine[] = [];
  let hidden = 0;
  lines.forEach((line, at) => {
    if (!keep.has(at)) {
      hidden++;
      return;
    }
    if (hidden) out.push({ kind: "skip", text: `… ${hidden} unchanged` });
    hidden = 0;
    out.push(line);
  });
  if (hidden) out.push({ kind: "skip", text: `… ${hidden} unchanged` });
  return out;
}

const linesOf = (text: string): string[] => (text ? text.replace(/\n$/, "").split("\n") : []);

function myers(a: string[], b: string[]): DiffLine[] {
  const max = Math.min(a.length + b.length, MAX_EDITS);
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let edits = 0; edits <= max; edits++) {
    trace.push(new Map(furthest));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, trace);
    }
  }
  // Nothing in common worth finding: show one side out, the other in.
  return [...a.map((text): DiffLine => ({ kind: "del", text })), ...b.map((text): DiffLine => ({ kind: "add", text }))];
}

function backtrack(a: string[], b: string[], trace: Map<number, number>[]): DiffLine[] {
  const out: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const furthest = trace[edits]!;
    const k = x - y;
    const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const startX = furthest.get(before) ?? 0;
    const startY = startX - before;
    while (x > startX && y > startY && x > 0 && y > 0) {
      out.push({ kind: "same", text: a[--x]! });
      y--;
    }
    if (edits === 0) break;
    if (down) out.push({ kind: "add", text: b[--y]! });
    else out.push({ kind: "del", text: a[--x]! });
  }
  return out.reverse();
}

function numbered(lines: DiffLine[]): DiffLine[] {
  let [left, right] = [0, 0];
  return lines.map((line) => ({
    ...line,
    ...(line.kind === "add" ? {} : { left: ++left }),
    ...(line.kind === "del" ? {} : { right: ++right }),
  }));
}
