/** Colours of lines, picked so that neighbours tell apart on both grounds. */
const LIGHT = [
  "#2f6fde",
  "#b35400",
  "#187a45",
  "#c9306a",
  "#7c4fd0",
  "#0b7485",
  "#806300",
  "#b0413e",
  "#5d7d1c",
  "#5b6b82",
];
const DARK = [
  "#6ea8ff",
  "#f79d4b",
  "#58d08a",
  "#ff7aa8",
  "#b394ff",
  "#45cfe0",
  "#e3c552",
  "#ff8d80",
  "#b5d461",
  "#a3b3c9",
];

export type Theme = "light" | "dark";

export const palette = (theme: Theme): readonly string[] => (theme === "dark" ? DARK : LIGHT);
export const colorAt = (index: number, theme: Theme): string =>
  palette(theme)[((index % LIGHT.length) + LIGHT.length) % LIGHT.length]!;

/** Solid, dashed, dotted: who cannot tell the colours apart tells neighbours apart by these. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3]];

export interface Stroke {
  color: string;
  dash: readonly number[];
}

/** How a trial is drawn, on every page: thirty in a row look different. */
export const strokeOf = (trialId: number, theme: Theme): Stroke => ({
  color: colorAt(trialId, theme),
  dash: DASHES[trialId % DASHES.length]!,
});

export interface Ink {
  text: string;
  muted: string;
  faint: string;
  line: string;
  grid: string;
  panel: string;
  accent: string;
}

/** The theme's colours as canvas can use them. */
export function ink(theme: Theme): Ink {
  return theme === "dark"
    ? {
        text: "#e4e8ef",
        muted: "#9aa5b8",
        faint: "#4b5668",
        line: "#3a4556",
        grid: "#222a36",
        panel: "#161b24",
        accent: "#8aa6ff",
      }
    : {
        text: "#1a2130",
        muted: "#5a6579",
        faint: "#c3cad6",
        line: "#c5ccd8",
        grid: "#eceff4",
        panel: "#ffffff",
        accent: "#3a5ccc",
      };
}
