/** A dialog that changes something: Enter and its button do it, a refusal stays in it, success closes it. */
import type { ReactNode } from "react";
import { Dialog } from "./Dialog";
import { ErrorNote } from "./parts";
import { useSubmit } from "./useSubmit";

interface Props {
  title: string;
  /** What the button says. */
  action: string;
  /** Resolves when it is done; what it throws is shown. */
  run: () => Promise<unknown>;
  onClose: () => void;
  /** Runs after success, in place of closing. */
  onDone?: () => void;
  /** Whether what is filled in is enough. */
  isReady?: boolean;
  /** What the other button says. */
  leave?: string;
  isDanger?: boolean;
  /** There is nothing to fill in: the button has the focus. */
  isQuestion?: boolean;
  children: ReactNode;
}

export function FormDialog(props: Props): ReactNode {
  const { title, action, run, onClose, onDone = onClose, isReady = true, leave = "Close", children } = props;
  const { submit, isBusy, error } = useSubmit(run, onDone);
  const footer = (
    <>
      <button type="button" className="btn" onClick={onClose}>
        {leave}
      </button>
      <button
        className={`btn primary ${props.isDanger ? "danger" : ""}`}
        disabled={!isReady || isBusy}
        autoFocus={!!props.isQuestion}
      >
        {action}
      </button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer} onSubmit={() => isReady && submit()}>
      {children}
      <ErrorNote error={error} />
    </Dialog>
  );
}
