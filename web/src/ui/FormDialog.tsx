/** A dialog that changes something: Enter and its button do it, a refusal stays in it, success closes it. */
import type { ReactNode } from "react";
import { Dialog } from "./Dialog";
import { ErrorNote } from "./parts";
import type { Form } from "./useForm";

interface Props {
  title: string;
  /** What the button says. */
  action: string;
  form: Pick<Form<object>, "submit" | "isReady" | "isBusy" | "error">;
  onClose: () => void;
  /** What the other button says. */
  leave?: string;
  isDanger?: boolean;
  /** There is nothing to fill in: the button has the focus. */
  isQuestion?: boolean;
  children: ReactNode;
}

export function FormDialog(props: Props): ReactNode {
  const { title, action, form, onClose, leave = "Close", children } = props;
  const footer = (
    <>
      <button type="button" className="btn" onClick={onClose}>
        {leave}
      </button>
      <button
        className={`btn primary ${props.isDanger ? "danger" : ""}`}
        disabled={!form.isReady || form.isBusy}
        autoFocus={!!props.isQuestion}
      >
        {action}
      </button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer} onSubmit={form.submit}>
      {children}
      <ErrorNote error={form.error} />
    </Dialog>
  );
}
