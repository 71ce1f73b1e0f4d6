/** One attempt to change something: busy while it runs, the error when it was refused, and what to do when it was not. */
import { useMutation } from "@tanstack/react-query";

export interface Submit<V> {
  submit: (value: V) => void;
  isBusy: boolean;
  error: unknown;
}

/** A second click while the first is under way does nothing: buttons and Enter may come together. */
export function useSubmit<V = void>(act: (value: V) => Promise<unknown>, onDone?: () => void): Submit<V> {
  const mutation = useMutation({ mutationFn: act, ...(onDone ? { onSuccess: onDone } : {}) });
  return {
    submit: (value) => {
      if (!mutation.isPending) mutation.mutate(value);
    },
    isBusy: mutation.isPending,
    error: mutation.error,
  };
}
