/** The one way to make HTML from text: chart tooltips take strings of it. Everything else is drawn by React. */

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escapeHtml = (value: unknown): string =>
  String(value ?? "").replace(/[&<>"']/g, (character) => ENTITIES[character]!);

/** A template whose own markup stays and whose values are text, whatever a user called them. */
export function html(markup: TemplateStringsArray, ...values: readonly unknown[]): string {
  return String.raw({ raw: markup }, ...values.map(escapeHtml));
}
