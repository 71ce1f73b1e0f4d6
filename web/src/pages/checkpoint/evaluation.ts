/** The judgement that travels with a detector's weights (`evaluation.json`), and what the page needs of it. Pure. */
export interface ClassResult {
  id: number;
  name: string;
  ap: number;
  ap_50: number;
  ap_75: number;
  ar_100: number;
  precision: number;
  recall: number;
  f1: number;
  best_score: number;
  count: number;
  detections: number;
}
export interface PrecisionCurve {
  id: number;
  name: string;
  recall: number[];
  precision: number[];
  score: number[];
}
export interface Confusion {
  class_ids: number[];
  names: string[];
  /** Row: what it is; column: what was found; the last of both is the background. */
  matrix: number[][];
  iou: number;
  score: number;
}
export interface ImageResult {
  id: number;
  file_name: string;
  found: number;
  wrong: number;
  missed: number;
  f1: number;
  picture?: string | null;
}
export interface Evaluation {
  kind: "evaluation";
  format: number;
  steps: number | null;
  iou_types: string[];
  images_seen: number;
  images_unseen: number;
  detections_dropped: number;
  summary: Record<string, number>;
  classes: ClassResult[];
  curves: PrecisionCurve[];
  confusion: Confusion;
  errors: Record<string, { count: number; lost_ap: number }>;
  images: { worst: ImageResult[]; best: ImageResult[] };
}

export const EVALUATION_FILE = "evaluation.json";
const KNOWN_FORMAT = 1;
export const ERROR_WORDS: Record<string, string> = {
  classification: "Right place, wrong class",
  localisation: "Right class, poor box",
  both: "Wrong class and poor box",
  duplicate: "Found twice",
  background: "Nothing there",
  missed: "Missed",
};

/** Throws a sentence when the file is of another kind or newer than this page. */
export function readEvaluation(content: unknown): Evaluation {
  const found = content as Partial<Evaluation> | null;
  if (found?.kind !== "evaluation") throw new Error(`${EVALUATION_FILE} is not an evaluation.`);
  if (found.format !== KNOWN_FORMAT)
    throw new Error(`${EVALUATION_FILE} has format ${found.format}; this page reads ${KNOWN_FORMAT}.`);
  return found as Evaluation;
}

/** -1 stands for "nothing to measure". */
export const isMeasured = (value: number | undefined): value is number => value !== undefined && value >= 0;
export const percent = (value: number | undefined): string => (isMeasured(value) ? (100 * value).toFixed(1) : "–");

export interface ConfusionTable {
  rows: string[];
  columns: string[];
  matrix: number[][];
}

/** Rows that occur and columns that were found, so that a table of 60 does not hide the 8 that matter. */
export function usedConfusion({ names, matrix }: Confusion): ConfusionTable {
  const last = matrix.length - 1;
  const all = matrix.map((_, at) => at);
  const name = (at: number): string => (at === last ? "background" : (names[at] ?? String(at)));
  const rows = all.filter((at) => matrix[at]!.some((count) => count > 0));
  const found = all.filter((at) => rows.includes(at) || matrix.some((row) => row[at]! > 0));
  return {
    rows: rows.map(name),
    columns: found.map(name),
    matrix: rows.map((row) => found.map((column) => matrix[row]![column]!)),
  };
}

/** Share of its row, for colour: a rare class is as visible as a common one. */
export const shareOfRow = (row: readonly number[], at: number): number => {
  const sum = row.reduce((total, count) => total + count, 0);
  return sum ? row[at]! / sum : 0;
};
