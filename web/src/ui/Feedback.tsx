/** Toasts and the question before an action that cannot be taken back. */
import { createContext, use, useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import { FormDialog } from "./FormDialog";
import { useForm } from "./useForm";
import { Icon } from "./Icon";

export interface Question {
  title: string;
  text: ReactNode;
  action: string;
  danger?: boolean;
  run: () => Promise<unknown>;
  done?: string;
}
interface Toast {
  id: number;
  text: string;
  bad: boolean;
}
interface Feedback {
  say: (text: string) => void;
  complain: (error: unknown) => void;
  ask: (question: Question) => void;
}

const SHOWN_MS = 5000;
const Context = createContext<Feedback | null>(null);

export function useFeedback(): Feedback {
  return use(Context)!;
}

export function FeedbackProvider({ children }: { children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const [question, setQuestion] = useState<Question | null>(null);
  const counter = useRef(0);
  const add = useCallback((text: string, bad: boolean) => {
    const id = ++counter.current;
    setToasts((all) => [...all.slice(-3), { id, text, bad }]);
    setTimeout(() => setToasts((all) => all.filter((toast) => toast.id !== id)), bad ? SHOWN_MS * 2 : SHOWN_MS);
  }, []);
  const feedback = useMemo<Feedback>(
    () => ({
      say: (text) => add(text, false),
      complain: (error) => add(error instanceof Error ? error.message : String(error), true),
      ask: setQuestion,
    }),
    [add],
  );
  return (
    <Context value={feedback}>
      {children}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} say={feedback.say} />}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className={`toast ${toast.bad ? "bad" : ""}`}>
            <span className="grow">{toast.text}</span>
            <button
              className="btn quiet icon"
              style={{ height: 20, width: 20 }}
              aria-label="Dismiss"
              onClick={() => setToasts((all) => all.filter((other) => other.id !== toast.id))}
            >
              <Icon name="close" size={12} />
            </button>
          </div>
        ))}
      </div>
    </Context>
  );
}

function Confirm({
  question,
  onClose,
  say,
}: {
  question: Question;
  onClose: () => void;
  say: (text: string) => void;
}): ReactNode {
  const form = useForm({
    initial: {},
    run: question.run,
    onDone: () => {
      if (question.done) say(question.done);
      onClose();
    },
  });
  return (
    <FormDialog
      title={question.title}
      action={question.action}
      leave="Keep as it is"
      isDanger={!!question.danger}
      isQuestion
      form={form}
      onClose={onClose}
    >
      <div className="muted">{question.text}</div>
    </FormDialog>
  );
}
