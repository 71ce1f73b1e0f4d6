/** What is taken for what. Rows are what it is, columns what was found; colour is the share of the row. */
import type { ReactNode } from "react";
import { shareOfRow, usedConfusion, type Confusion } from "./evaluation";

export function ConfusionMatrix({ confusion }: { confusion: Confusion }): ReactNode {
  const { rows, columns, matrix } = usedConfusion(confusion);
  return (
    <>
      <div className="table-wrap confusion-wrap" tabIndex={0} aria-label="Confusion">
        <table className="confusion" aria-label="Confusion matrix">
          <thead>
            <tr>
              <th className="corner">is, below; found as, right</th>
              {columns.map((name) => (
                <th key={name} scope="col">
                  <span>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.map((row, at) => (
              <tr key={rows[at]}>
                <th scope="row">{rows[at]}</th>
                {row.map((count, column) => (
                  <Cell
                    key={column}
                    count={count}
                    share={shareOfRow(row, column)}
                    right={rows[at] === columns[column]}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="faint" style={{ padding: "var(--s2) var(--s3)" }}>
        Detections with a score of {confusion.score} or more, matched at IoU {confusion.iou}. Classes that neither occur
        nor were found are left out.
      </p>
    </>
  );
}

function Cell({ count, share, right }: { count: number; share: number; right: boolean }): ReactNode {
  const tone = right ? "var(--good)" : "var(--bad)";
  const style = count ? { background: `color-mix(in srgb, ${tone} ${Math.round(8 + 52 * share)}%, var(--panel))` } : {};
  return (
    <td style={style} className={right ? "right" : ""} title={`${Math.round(100 * share)} % of the row`}>
      {count || ""}
    </td>
  );
}
