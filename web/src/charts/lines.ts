/** Painting lines and finding the one under the pointer. */
import type uPlot from "uplot";
import { nearestIndex } from "./series";

export interface Line {
  id: string;
  label: string;
  color: string;
  x: readonly number[];
  y: readonly number[];
  dash?: readonly number[];
  dim?: boolean;
  /** Drawn lightly: a second line of the same trial. */
  faint?: boolean;
}

interface Painted {
  lines: readonly Line[];
  raw: readonly Line[];
  highlight: string | null;
}

export function drawLines(u: uPlot, painted: Painted, dimColor: string): void {
  const { ctx, bbox } = u;
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineJoin = "round";
  for (const line of painted.raw) stroke(u, line, { color: line.color, width: ratio, alpha: 0.22 });
  const many = painted.lines.length > 12;
  for (const line of ordered(painted)) {
    const lit = line.id === painted.highlight;
    const faded = painted.highlight !== null && !lit && many;
    const color = line.dim && !lit ? dimColor : line.color;
    stroke(u, line, {
      color,
      width: (lit ? 2.5 : many ? 1.2 : 1.6) * ratio,
      alpha: faded ? 0.3 : line.faint && !lit ? 0.4 : 1,
    });
  }
  ctx.restore();
}

/** Dimmed ones at the back, the highlighted one in front. */
function ordered({ lines, highlight }: Painted): Line[] {
  const depth = (line: Line): number => (line.id === highlight ? 3 : line.dim ? 0 : line.faint ? 1 : 2);
  return [...lines].sort((a, b) => depth(a) - depth(b));
}

function stroke(u: uPlot, line: Line, style: { color: string; width: number; alpha: number }): void {
  const { ctx } = u;
  ctx.globalAlpha = style.alpha;
  ctx.strokeStyle = style.color;
  ctx.fillStyle = style.color;
  ctx.lineWidth = style.width;
  ctx.setLineDash((line.dash ?? []).map((length) => length * (window.devicePixelRatio || 1)));
  ctx.beginPath();
  let drawing = false;
  let run = 0;
  let [px, py] = [0, 0];
  const dot = (): void => {
    if (run === 1) ctx.fillRect(px - style.width * 1.5, py - style.width * 1.5, style.width * 3, style.width * 3);
  };
  const log = u.scales["y"]!.distr === 3;
  for (let i = 0; i < line.x.length; i++) {
    const y = line.y[i]!;
    if (!Number.isFinite(y) || (log && y <= 0)) {
      dot();
      drawing = false;
      run = 0;
      continue;
    }
    px = u.valToPos(line.x[i]!, "x", true);
    py = u.valToPos(y, "y", true);
    if (drawing) ctx.lineTo(px, py);
    else ctx.moveTo(px, py);
    drawing = true;
    run++;
  }
  ctx.stroke();
  dot();
}

export function nearestLine(u: uPlot, lines: readonly Line[], left: number, top: number, reach: number): Line | null {
  const x = u.posToVal(left, "x");
  let best: Line | null = null;
  let distance = reach;
  for (const line of lines) {
    const at = nearestIndex(line.x, x);
    if (at < 0 || !Number.isFinite(line.y[at]!)) continue;
    const dx = u.valToPos(line.x[at]!, "x") - left;
    const away = Math.hypot(Math.abs(dx) > reach * 2 ? dx : dx * 0.3, heightAt(u, line, at, x) - top);
    if (away < distance) [best, distance] = [line, away];
  }
  return best;
}

/** Pixel height of a line at x, between its points. */
function heightAt(u: uPlot, line: Line, at: number, x: number): number {
  const other = x > line.x[at]! ? at + 1 : at - 1;
  const [x0, y0] = [line.x[at]!, line.y[at]!];
  const [x1, y1] = [line.x[other], line.y[other]];
  if (x1 === undefined || y1 === undefined || !Number.isFinite(y1) || x1 === x0) return u.valToPos(y0, "y");
  const share = Math.min(1, Math.abs((x - x0) / (x1 - x0)));
  return u.valToPos(y0, "y") * (1 - share) + u.valToPos(y1, "y") * share;
}
