/** Line icons on a 16 px grid, drawn here so that no icon font is fetched. */
import type { ReactNode } from "react";

const PATHS = {
  home: "M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5",
  flask: "M6 2.5h4M6.8 2.5v4L3 13h10L9.2 6.5v-4M5 10h6",
  folder: "M2 4.5h4l1.5 1.5H14v6.5H2z",
  queue: "M2.5 4h11M2.5 8h11M2.5 12h7",
  cluster: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  task: "M2.5 3.5h11v9h-11zM5 6.5 7 8 5 9.5M8.5 10H11",
  users:
    "M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM2 13c.3-2.4 1.9-3.6 4-3.6s3.7 1.2 4 3.6M10.5 3.2a2.2 2.2 0 0 1 0 4.2M11.5 9.6c1.4.4 2.3 1.6 2.5 3.4",
  user: "M8 7.8a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.5c.4-2.7 2.3-4 5-4s4.6 1.3 5 4",
  model: "M8 2 14 5v6l-6 3-6-3V5zM2 5l6 3 6-3M8 8v6",
  picture: "M2.5 3h11v10h-11zM5.5 6.8a.8.8 0 1 0 0-1.6.8.8 0 0 0 0 1.6zM2.5 11.5l3.2-3 2.3 2 2.5-3 3 3.5",
  deploy: "M8 10.5V3M5 5.8 8 2.8l3 3M3 9.5v3.5h10V9.5",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5z",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  down: "M4 6.5 8 10.5l4-4",
  up: "M4 9.5 8 5.5l4 4",
  left: "M9.5 4 5.5 8l4 4",
  right: "M6.5 4 10.5 8l-4 4",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M4.5 3v10l8-5z",
  stop: "M4 4h8v8H4z",
  fork: "M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5c0 3-7 1.5-7 5",
  download: "M8 2.5v7M5 7l3 3 3-3M3 13h10",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 9h6l.5-9",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  warn: "M8 2.5 14.5 13h-13zM8 6.5v3M8 11.2h.01",
  expand: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  check: "M3 8.5 6.5 12 13 4.5",
  out: "M6 3H3v10h3M10 5l3 3-3 3M13 8H6.5",
  key: "M10 9a3.2 3.2 0 1 0-3-2L2.5 11.5v2h2v-1.5H6V10.5h1.2L8 9.7",
  compare: "M3 13V7M7 13V3M11 13V9M14 13H2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactNode {
  const thick = name === "more" ? 2.2 : 1.4;
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={thick}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
