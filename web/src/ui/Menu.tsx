/** A drop-down of links, buttons or boxes to tick: arrow keys move, Escape closes, a click outside closes. */
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

interface Props {
  label: ReactNode;
  name?: string;
  className?: string;
  align?: "left" | "right";
  up?: boolean;
  keepOpen?: boolean;
  children: ReactNode;
}

export function Menu({ label, name, className = "btn", align = "right", up, keepOpen, children }: Props): ReactNode {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: MouseEvent): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("mousedown", outside);
    root.current?.querySelector<HTMLElement>(".menu-list :is(button, a, input)")?.focus();
    return () => document.removeEventListener("mousedown", outside);
  }, [open]);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && open) {
      event.stopPropagation();
      setOpen(false);
      root.current?.querySelector("button")?.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const items = [
      ...(root.current?.querySelectorAll<HTMLElement>(".menu-list :is(button, a, input):not(:disabled)") ?? []),
    ];
    if (!items.length) return;
    event.preventDefault();
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length]?.focus();
  };
  return (
    <div className="menu" ref={root} onKeyDown={onKey}>
      <button type="button" className={className} aria-expanded={open} aria-label={name} onClick={() => setOpen(!open)}>
        {label}
      </button>
      {open && (
        <div
          className={`menu-list ${align} ${up ? "up" : ""}`}
          role="group"
          aria-label={name ?? "Choices"}
          onClick={() => !keepOpen && setOpen(false)}
        >
          {children}
        </div>
      )}
    </div>
  );
}
