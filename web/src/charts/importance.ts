/**
 * Which hyperparameters moved the metric: a small random forest, and how much each one's splits explain.
 * Seeded, so that the picture does not dance between refreshes. Pure.
 */
export interface Importance {
  name: string;
  share: number;
}

const TREES = 40;
const DEPTH = 6;
const LEAF = 3;
export const MIN_TRIALS = 5;

export function importances(rows: readonly Record<string, unknown>[], target: readonly number[]): Importance[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort();
  const columns = names.map((name) => encode(rows.map((row) => row[name])));
  const varied = names.flatMap((_, i) => (new Set(columns[i]).size > 1 ? [i] : []));
  if (target.length < MIN_TRIALS || !varied.length) return [];
  const gains = new Map<number, number>(varied.map((i) => [i, 0]));
  const random = generator(1);
  for (let tree = 0; tree < TREES; tree++) {
    const sample = Array.from(target, () => Math.floor(random() * target.length));
    grow(sample, { columns, target, varied, gains, random }, 0);
  }
  const total = [...gains.values()].reduce((sum, gain) => sum + gain, 0);
  if (!total) return varied.map((i) => ({ name: names[i]!, share: 0 }));
  return varied.map((i) => ({ name: names[i]!, share: gains.get(i)! / total })).sort((a, b) => b.share - a.share);
}

interface Forest {
  columns: number[][];
  target: readonly number[];
  varied: number[];
  gains: Map<number, number>;
  random: () => number;
}

function grow(sample: number[], forest: Forest, depth: number): void {
  if (depth >= DEPTH || sample.length < 2 * LEAF) return;
  const split = bestSplit(sample, forest);
  if (!split) return;
  forest.gains.set(split.column, forest.gains.get(split.column)! + split.gain);
  const goesLeft = (row: number): boolean => forest.columns[split.column]![row]! <= split.at;
  grow(sample.filter(goesLeft), forest, depth + 1);
  grow(
    sample.filter((row) => !goesLeft(row)),
    forest,
    depth + 1,
  );
}

interface Split {
  column: number;
  at: number;
  gain: number;
}

function bestSplit(sample: number[], { columns, target, varied, random }: Forest): Split | null {
  let best: Split | null = null;
  const wanted = Math.max(1, Math.ceil(varied.length * 0.7));
  const tried = [...varied].sort(() => random() - 0.5).slice(0, wanted);
  for (const column of tried) {
    const values = columns[column]!;
    const sorted = [...sample].sort((a, b) => values[a]! - values[b]!);
    let [left, right] = [0, sorted.reduce((sum, row) => sum + target[row]!, 0)];
    const base = right ** 2 / sorted.length;
    for (let i = 1; i < sorted.length; i++) {
      const moved = target[sorted[i - 1]!]!;
      left += moved;
      right -= moved;
      if (i < LEAF || sorted.length - i < LEAF || values[sorted[i]!] === values[sorted[i - 1]!]) continue;
      const gain = left ** 2 / i + right ** 2 / (sorted.length - i) - base;
      if (gain > 1e-12 && (!best || gain > best.gain)) best = { column, at: values[sorted[i - 1]!]!, gain };
    }
  }
  return best;
}

/** Numbers stay numbers (ranks are enough for trees); anything else becomes the rank of its text. */
function encode(values: unknown[]): number[] {
  if (values.every((value) => typeof value === "number" && Number.isFinite(value))) return values as number[];
  const order = [...new Set(values.map((value) => JSON.stringify(value) ?? ""))].sort();
  return values.map((value) => order.indexOf(JSON.stringify(value) ?? ""));
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
