/** How good the detector is on each class; a click on a head sorts, a click on a class shows its curve. */
import { useMemo, useState, type ReactNode } from "react";
import { formatCount } from "../../text/format";
import { isMeasured, percent, type ClassResult } from "./evaluation";

const COLUMNS = [
  ["count", "Labels"],
  ["detections", "Detections"],
  ["ap", "AP, %"],
  ["ap_50", "AP at 0.5"],
  ["ap_75", "AP at 0.75"],
  ["precision", "Precision"],
  ["recall", "Recall"],
  ["f1", "F1"],
] as const;
type Key = (typeof COLUMNS)[number][0];
const COUNTS: readonly Key[] = ["count", "detections"];

interface Props {
  classes: readonly ClassResult[];
  chosen: number | null;
  onChoose: (id: number | null) => void;
}

export function ClassTable({ classes, chosen, onChoose }: Props): ReactNode {
  const [by, setBy] = useState<Key>("count");
  const [descending, setDescending] = useState(true);
  const rows = useMemo(() => {
    const sign = descending ? -1 : 1;
    return classes
      .filter((each) => each.count > 0 || each.detections > 0)
      .sort((a, b) => Number(isMeasured(b[by])) - Number(isMeasured(a[by])) || sign * (a[by] - b[by]));
  }, [classes, by, descending]);
  const sort = (key: Key): void => {
    setDescending(key === by ? !descending : true);
    setBy(key);
  };
  return (
    <div className="table-wrap" style={{ maxHeight: 460 }}>
      <table className="table" aria-label="Results by class">
        <thead>
          <tr>
            <th>Class</th>
            {COLUMNS.map(([key, title]) => (
              <th
                key={key}
                className="num"
                aria-sort={key === by ? (descending ? "descending" : "ascending") : undefined}
              >
                <button onClick={() => sort(key)}>
                  {title}
                  {key === by ? (descending ? " ↓" : " ↑") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((each) => (
            <tr key={each.id} className={each.id === chosen ? "selected" : ""}>
              <td>
                <button className="link" onClick={() => onChoose(each.id === chosen ? null : each.id)}>
                  {each.name}
                </button>
              </td>
              {COLUMNS.map(([key]) => (
                <td key={key} className="num">
                  {COUNTS.includes(key) ? formatCount(each[key]) : percent(each[key])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
