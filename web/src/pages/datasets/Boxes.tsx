/** Boxes over a picture, in its own pixels, scaled to whatever room there is. */
import { useEffect, useRef, useState, type ReactNode, type RefObject } from "react";
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

const NAME_PX = 12;

export function Boxes({ width, height, boxes, thin, children }: Props): ReactNode {
  const element = useRef<SVGSVGElement>(null);
  const scale = useScale(element, width, height, !thin);
  const size = NAME_PX / scale;
  return (
    <svg
      ref={element}
      className="boxes"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      role="img"
      aria-label={boxes.length === 1 ? "1 box" : `${boxes.length} boxes`}
      data-boxes={boxes.length}
    >
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
              x={Math.max(0, Math.min(x1, width - label.length * size * 0.55))}
              y={Math.max(size, y1 - size / 3)}
              fontSize={size}
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

/** Screen pixels per pixel of the picture, so that names keep their size. */
function useScale(element: RefObject<SVGSVGElement | null>, width: number, height: number, isWanted: boolean): number {
  const [scale, setScale] = useState(1);
  useEffect(() => {
    if (!isWanted || !element.current) return;
    const watch = new ResizeObserver(([entry]) => {
      const room = entry?.contentRect;
      if (room?.width && room.height) setScale(Math.min(room.width / width, room.height / height));
    });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [element, width, height, isWanted]);
  return scale;
}
