/** Boxes over a picture, in its own pixels, scaled to whatever room there is. */
import type { ReactNode } from "react";
import { colorAt } from "../../charts/palette";

export interface DrawnBox {
  /** x1, y1, x2, y2 in pixels of the picture. */
  box: readonly [number, number, number, number];
  label: string;
  /** Which colour of the palette. */
  color: number;
}

interface Props {
  width: number;
  height: number;
  boxes: readonly DrawnBox[];
  /** Without names, for small pictures. */
  thin?: boolean;
  children?: ReactNode;
}

export function Boxes({ width, height, boxes, thin, children }: Props): ReactNode {
  const unit = Math.max(width, height) / 100;
  return (
    <svg className="boxes" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMidYMid meet" role="img">
      {children}
      {boxes.map(({ box: [x1, y1, x2, y2], label, color }, at) => (
        <g key={at} style={{ color: colorAt(color, "dark") }}>
          <rect
            x={x1}
            y={y1}
            width={Math.max(0, x2 - x1)}
            height={Math.max(0, y2 - y1)}
            fill="none"
            stroke="currentColor"
            strokeWidth={thin ? 1.5 : 2}
            vectorEffect="non-scaling-stroke"
          >
            <title>{label}</title>
          </rect>
          {!thin && (
            <text
              x={x1}
              y={Math.max(unit * 2, y1 - unit / 2)}
              fontSize={unit * 2}
              fill="currentColor"
              className="box-name"
            >
              {label}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}
