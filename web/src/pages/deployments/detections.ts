/** Answers of a model: whether they are detections, and which of them to draw. Pure. */
export interface Detection {
  label: string;
  /** x1, y1, x2, y2 in pixels of the picture that was sent. */
  box: [number, number, number, number];
  score: number;
}

/** Null when the answer is something else. Detections are `{"<class>": [x1, y1, x2, y2], "score": s}`. */
export function detectionsOf(prediction: unknown): Detection[] | null {
  if (!Array.isArray(prediction)) return null;
  const found = prediction.map(detectionOf);
  return found.every((each) => each !== null) ? found : null;
}

function detectionOf(value: unknown): Detection | null {
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  const { score, ...rest } = value as Record<string, unknown>;
  const [first, ...more] = Object.entries(rest);
  if (typeof score !== "number" || !first || more.length || !isBox(first[1])) return null;
  return { label: first[0], box: first[1], score };
}

const isBox = (value: unknown): value is [number, number, number, number] =>
  Array.isArray(value) && value.length === 4 && value.every((each) => typeof each === "number");

/** The same class has the same colour, by its place among the classes that were found. */
export function coloursOf(found: readonly Detection[]): Map<string, number> {
  return new Map([...new Set(found.map((each) => each.label))].sort().map((label, at) => [label, at]));
}

/** A threshold at which something is seen: 0.3, or lower when the model is less sure than that. */
export function firstThreshold(found: readonly Detection[]): number {
  const best = Math.max(0, ...found.map((each) => each.score));
  return best >= 0.3 ? 0.3 : Math.floor(best * 100) / 100;
}
