/** A choice that stands in the address, so that a link shows what its sender saw. The first option stands there unsaid. */
import { useSearchParams } from "react-router";

export function useAddressed<T extends string>(key: string, options: readonly T[]): [T, (value: T) => void] {
  const [params, setParams] = useSearchParams();
  const value = options.find((option) => option === params.get(key)) ?? options[0]!;
  const set = (next: T): void =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (next === options[0]) after.delete(key);
        else after.set(key, next);
        return after;
      },
      { replace: true },
    );
  return [value, set];
}
