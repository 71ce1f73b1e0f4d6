/** State that survives a reload, for choices such as columns and smoothing. */
import { useCallback, useState } from "react";

export function useStored<T>(key: string, initial: T): [T, (value: T) => void] {
  const name = `resolute.${key}`;
  const [value, setValue] = useState<T>(() => read(name, initial));
  const store = useCallback(
    (next: T) => {
      setValue(next);
      localStorage.setItem(name, JSON.stringify(next));
    },
    [name],
  );
  return [value, store];
}

function read<T>(name: string, initial: T): T {
  try {
    const text = localStorage.getItem(name);
    return text === null ? initial : (JSON.parse(text) as T);
  } catch {
    return initial;
  }
}
