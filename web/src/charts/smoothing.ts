/** Exponential smoothing that starts where the data starts and steps over gaps. */
export function smooth(values: readonly number[], weight: number): number[] {
  if (weight <= 0) return [...values];
  let average = 0;
  let seen = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    average = average * weight + value * (1 - weight);
    seen += 1;
    return average / (1 - weight ** seen);
  });
}
