/**
 * What stands in the place of a page that could not be drawn: never nothing.
 *
 * A part of the program that could not be fetched (the server is away, or has been upgraded since this tab was opened)
 * is fetched by loading the page again once the server answers; browsers remember a failed import, so asking for the
 * same part again would fail for good.
 */
import { Component, type ErrorInfo, type ReactNode } from "react";
import { connection } from "../api/connection";
import { Icon } from "./Icon";

const ONCE_MS = 20_000;
const LAST_KEY = "resolute.reloaded";

interface Props {
  /** Another page deserves another try. */
  place: string;
  children: ReactNode;
}
interface State {
  error: unknown;
  place: string;
}

export class PageBoundary extends Component<Props, State> {
  override state: State = { error: null, place: this.props.place };
  #stop: (() => void) | undefined;

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.place === state.place ? null : { place: props.place, error: null };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    if (!isPartMissing(error)) {
      console.warn("A page could not be drawn.", error, info.componentStack);
      return;
    }
    this.#stop?.();
    this.#stop = connection.watch(() => {
      if (connection.state === "up" && mayReload(Date.now())) window.location.reload();
    });
    connection.lost();
  }

  override componentWillUnmount(): void {
    this.#stop?.();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const missing = isPartMissing(error);
    return (
      <div className="error-note" role="alert">
        <Icon name="warn" />
        <div className="stack tight">
          <b>{missing ? "This page could not be fetched." : "This page could not be drawn."}</b>
          <span>
            {missing
              ? "It loads as soon as the server answers."
              : `${error instanceof Error ? error.message : String(error)} The rest of the page goes on working.`}
          </span>
          <div>
            <button className="btn" onClick={() => window.location.reload()}>
              Load again
            </button>
          </div>
        </div>
      </div>
    );
  }
}

/** As Chromium, Firefox, Safari and the bundler's own loader say it. */
export const isPartMissing = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|importing a module script failed|unable to preload/i.test(error.message);

/** Once in a while only: a part that is gone for good must not load the page for ever. */
export function mayReload(now: number, memory: Pick<Storage, "getItem" | "setItem"> = sessionStorage): boolean {
  if (now - Number(memory.getItem(LAST_KEY) ?? 0) < ONCE_MS) return false;
  memory.setItem(LAST_KEY, String(now));
  return true;
}
