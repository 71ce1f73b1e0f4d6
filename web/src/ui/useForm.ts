/**
 * The one way to fill something in and send it: the values, a field's value and change by its name, one attempt at a time,
 * and the refusal. Dialogs and panels with fields all use it.
 */
import { useState } from "react";
import { useSubmit } from "./useSubmit";

interface Options<T> {
  initial: T;
  /** Resolves when it is done; what it throws is shown and what was filled in stays. */
  run: (values: T) => Promise<unknown>;
  onDone?: (() => void) | undefined;
  /** Whether what is filled in is enough to send. */
  isReady?: (values: T) => boolean;
}

export interface Field<V> {
  value: V;
  onChange: (value: V) => void;
}

export interface Form<T> {
  values: T;
  /** Changes some values and keeps the others. */
  set: (change: Partial<T>) => void;
  field: <K extends keyof T>(name: K) => Field<T[K]>;
  submit: () => void;
  isReady: boolean;
  isBusy: boolean;
  error: unknown;
}

export function useForm<T extends object>({ initial, run, onDone, isReady }: Options<T>): Form<T> {
  const [values, setValues] = useState(initial);
  const { submit, isBusy, error } = useSubmit(() => run(values), onDone);
  const set = (change: Partial<T>): void => setValues((known) => ({ ...known, ...change }));
  const ready = isReady?.(values) ?? true;
  return {
    values,
    set,
    field: (name) => ({ value: values[name], onChange: (value) => set({ [name]: value } as unknown as Partial<T>) }),
    submit: () => ready && submit(),
    isReady: ready,
    isBusy,
    error,
  };
}
