/** Small shared parts without state of their own. */
import { useEffect, useRef, type ReactNode } from "react";
import { Link, NavLink, useLocation } from "react-router";
import { isRunning, toneOf, wordOf } from "../text/state";
import { formatAgo, formatTime } from "../text/format";
import { useNow } from "./useNow";
import { Icon } from "./Icon";

export function StateBadge({ state }: { state: string }): ReactNode {
  return (
    <span className={`badge ${toneOf(state)}`}>
      <span className={`dot ${isRunning(state) ? "pulse" : ""}`} />
      {wordOf(state)}
    </span>
  );
}

export function Ago({ when }: { when: string | null | undefined }): ReactNode {
  const now = useNow(10_000);
  return (
    <time dateTime={when ?? ""} title={formatTime(when)}>
      {formatAgo(when, now)}
    </time>
  );
}

export function Bar({ share, label }: { share: number; label?: string }): ReactNode {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div
      className="bar"
      role="progressbar"
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-label={label ?? "Progress"}
    >
      <i style={{ width: `${percent}%` }} />
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** In the place of rows: they are on their way, or there are none. A refusal is no emptiness; who owns `of` shows it. */
export function NoRows({
  of,
  rows = 3,
  children,
}: {
  of: { isPending: boolean; error: unknown };
  rows?: number;
  children: ReactNode;
}): ReactNode {
  if (of.isPending) return <Loading rows={rows} />;
  return of.error ? null : children;
}

export function ErrorNote({ error }: { error: unknown }): ReactNode {
  if (!error) return null;
  return (
    <div className="error-note" role="alert">
      <Icon name="warn" />
      <span>{error instanceof Error ? error.message : String(error)}</span>
    </div>
  );
}

export function Panel({
  title,
  actions,
  children,
  flush,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  flush?: boolean;
}): ReactNode {
  return (
    <section className="panel">
      {(title || actions) && (
        <div className="panel-head">
          <h2>{title}</h2>
          {actions && <div className="row wrap">{actions}</div>}
        </div>
      )}
      {flush ? children : <div className="panel-body">{children}</div>}
    </section>
  );
}

export function Facts({ items }: { items: readonly (readonly [string, ReactNode] | null)[] }): ReactNode {
  return (
    <dl className="facts">
      {items.map(
        (item) =>
          item && (
            <div key={item[0]}>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export function Tabs({ base, tabs }: { base: string; tabs: readonly (readonly [string, string])[] }): ReactNode {
  const bar = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a phone the bar is wider than the window, and the open section may lie outside.
  useEffect(() => {
    bar.current!.querySelector(".active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [pathname]);
  return (
    <nav ref={bar} className="tabs" aria-label="Sections">
      {tabs.map(([path, label]) => (
        <NavLink key={path} to={path ? `${base}/${path}` : base} end={!path}>
          {label}
        </NavLink>
      ))}
    </nav>
  );
}

export function Segment<T extends string>({
  value,
  options,
  onChange,
  label,
}: {
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
  label: string;
}): ReactNode {
  return (
    <div className="segment" role="group" aria-label={label}>
      {options.map(([key, word]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {word}
        </button>
      ))}
    </div>
  );
}

/** What the tab of the browser is called: the page's heading without its badges. */
function titleOf(heading: HTMLElement): string {
  const words = [...heading.childNodes].filter((node) => !(node instanceof Element && node.matches(".badge")));
  return `${words
    .map((node) => node.textContent)
    .join("")
    .trim()} · Resolute`;
}

export interface Crumb {
  label: string;
  to?: string;
}

export function PageHead({
  title,
  crumbs = [],
  actions,
  children,
}: {
  title: ReactNode;
  crumbs?: readonly Crumb[];
  actions?: ReactNode;
  children?: ReactNode;
}): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = titleOf(heading.current!);
  });
  return (
    <header className="page-head">
      <div className="grow stack tight" style={{ gap: 2 }}>
        {crumbs.length > 0 && (
          <nav className="crumbs" aria-label="Where this is">
            {crumbs.map((crumb, i) => (
              <span key={i}>
                {i > 0 && <>/&nbsp; </>}
                {crumb.to ? <Link to={crumb.to}>{crumb.label}</Link> : crumb.label}
              </span>
            ))}
          </nav>
        )}
        <h1 ref={heading} className="row wrap">
          {title}
        </h1>
        {children}
      </div>
      {actions && <div className="row wrap">{actions}</div>}
    </header>
  );
}

export function Loading({ rows = 4 }: { rows?: number }): ReactNode {
  return (
    <div className="stack tight" style={{ padding: "var(--s3)" }} aria-label="Loading" role="status">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="skeleton" style={{ width: `${90 - i * 12}%` }} />
      ))}
    </div>
  );
}
