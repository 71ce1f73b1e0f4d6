/** A modal dialog on the browser's own element: focus stays inside, Escape closes. */
import { useEffect, useRef, type FormEvent, type ReactNode } from "react";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
  /** Makes it a form: Enter in a field and its first button come here. */
  onSubmit?: () => void;
}

export function Dialog({ title, onClose, children, footer, wide, onSubmit }: Props): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    // React takes the element away without closing it: the focus goes back to where it was by our hand.
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const content = (
    <>
      <div className="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
      {footer && <div className="dialog-foot">{footer}</div>}
    </>
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <dialog
      ref={element}
      className={wide ? "wide" : ""}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === element.current && onClose()}
    >
      {onSubmit ? <form onSubmit={submit}>{content}</form> : content}
    </dialog>
  );
}
