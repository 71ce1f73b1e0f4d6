/** How good a detector is: overall, by class, by curve, by confusion, by kind of error, and on pictures. */
import { useMemo, useState, type ReactNode } from "react";
import type { Address } from "../../api/client";
import { usePicture } from "../../api/picture";
import { checkpointFile } from "../../api/queries";
import { CurveChart, type Line } from "../../charts/CurveChart";
import { colorAt } from "../../charts/palette";
import { useTheme } from "../../theme/theme";
import { formatCount, plural } from "../../text/format";
import { Empty, Facts, Panel, Segment } from "../../ui/parts";
import { ClassTable } from "./ClassTable";
import { ConfusionMatrix } from "./ConfusionMatrix";
import { ERROR_WORDS, isMeasured, percent, type Evaluation, type ImageResult } from "./evaluation";

const UNIT = { x: [0, 1], y: [0, 1] } as const;
/** So many curves are told apart by colour. */
const CURVES_SHOWN = 8;

export function EvaluationView({ uuid, evaluation }: { uuid: string; evaluation: Evaluation }): ReactNode {
  const [chosen, setChosen] = useState<number | null>(null);
  return (
    <div className="stack">
      <Summary evaluation={evaluation} />
      <div className="grid two">
        <Panel title="Precision over recall, at IoU 0.5">
          <Curves evaluation={evaluation} chosen={chosen} />
        </Panel>
        <Panel title="What goes wrong" flush>
          <Errors evaluation={evaluation} />
        </Panel>
      </div>
      <Panel title="Classes" flush>
        <ClassTable classes={evaluation.classes} chosen={chosen} onChoose={setChosen} />
      </Panel>
      <Panel title="Confusion" flush>
        <ConfusionMatrix confusion={evaluation.confusion} />
      </Panel>
      <Pictures uuid={uuid} evaluation={evaluation} />
    </div>
  );
}

function Summary({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { summary } = evaluation;
  const first = evaluation.iou_types[0] === "segm" ? "mask_" : "";
  const value = (key: string): ReactNode => <b>{percent(summary[`${first}${key}`] ?? summary[key])}</b>;
  return (
    <Panel title={`Evaluation on ${plural(evaluation.images_seen, "image")}`}>
      <Facts
        items={[
          ["mAP, %", value("mAP")],
          ["mAP at IoU 0.5", value("mAP_50")],
          ["mAP at IoU 0.75", value("mAP_75")],
          [
            "mAP small, medium, large",
            ["small", "medium", "large"].map((k) => percent(summary[`${first}mAP_${k}`])).join(", "),
          ],
          ["Recall at 100 detections", value("mAR_100")],
          evaluation.images_unseen ? ["Images not looked at", formatCount(evaluation.images_unseen)] : null,
          evaluation.detections_dropped
            ? ["Detections left out, not numbers", formatCount(evaluation.detections_dropped)]
            : null,
        ]}
      />
    </Panel>
  );
}

function Curves({ evaluation, chosen }: { evaluation: Evaluation; chosen: number | null }): ReactNode {
  const theme = useTheme();
  const shown = useMemo(() => {
    if (chosen !== null) return evaluation.curves.filter((curve) => curve.id === chosen);
    const labels = new Map(evaluation.classes.map((each) => [each.id, each.count]));
    return [...evaluation.curves]
      .sort((a, b) => (labels.get(b.id) ?? 0) - (labels.get(a.id) ?? 0))
      .slice(0, CURVES_SHOWN);
  }, [evaluation, chosen]);
  const lines = useMemo(
    () =>
      shown.map((curve, at): Line => ({
        id: String(curve.id),
        label: curve.name,
        color: colorAt(at, theme),
        x: curve.recall,
        y: curve.precision,
      })),
    [shown, theme],
  );
  if (!evaluation.curves.length) return <Empty title="No class has labels" />;
  return (
    <>
      <CurveChart lines={lines} xAxis="recall" yLabel="precision" height={260} bounds={UNIT} />
      <div className="row wrap legend">
        {lines.map((line) => (
          <span key={line.id} className="row">
            <span className="swatch" style={{ background: line.color }} />
            {line.label}
          </span>
        ))}
      </div>
      <p className="faint">
        {chosen === null
          ? `The ${plural(shown.length, "class", "classes")} with most labels; choose one in the table to see it alone.`
          : "Choose the class again to see the others."}
      </p>
    </>
  );
}

function Errors({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const rows = Object.entries(evaluation.errors);
  const most = Math.max(1e-9, ...rows.map(([, each]) => each.lost_ap));
  return (
    <div className="table-wrap">
      <table className="table" aria-label="Kinds of errors">
        <thead>
          <tr>
            <th>Kind</th>
            <th className="num">Count</th>
            <th className="num">AP lost, points</th>
            <th style={{ width: "25%" }}>
              <span className="sr">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([kind, each]) => (
            <tr key={kind}>
              <td>{ERROR_WORDS[kind] ?? kind}</td>
              <td className="num">{formatCount(each.count)}</td>
              <td className="num">{(100 * each.lost_ap).toFixed(1)}</td>
              <td>
                <div className="bar" aria-hidden>
                  <i style={{ width: `${Math.max(0, (100 * each.lost_ap) / most)}%` }} />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const KINDS = [
  ["worst", "Worst"],
  ["best", "Best"],
] as const;

function Pictures({ uuid, evaluation }: { uuid: string; evaluation: Evaluation }): ReactNode {
  const [kind, setKind] = useState<"worst" | "best">("worst");
  const images = evaluation.images[kind];
  if (!evaluation.images.worst.length && !evaluation.images.best.length) return null;
  return (
    <Panel
      title="Pictures: labels left, detections right"
      actions={<Segment label="Which pictures" value={kind} options={KINDS} onChange={setKind} />}
    >
      <div className="grid charts">
        {images.map((image) => (
          <Judged key={`${kind}${image.id}`} uuid={uuid} image={image} />
        ))}
      </div>
    </Panel>
  );
}

function Judged({ uuid, image }: { uuid: string; image: ImageResult }): ReactNode {
  return (
    <figure className="judged">
      {image.picture ? (
        <Drawn path={checkpointFile(uuid, image.picture)} name={image.file_name} />
      ) : (
        <Empty title="No picture was kept" />
      )}
      <figcaption>
        <span className="ellipsis" title={image.file_name}>
          {image.file_name}
        </span>
        <span className="muted">
          {image.found} found, {image.wrong} wrong, {image.missed} missed
          {isMeasured(image.f1) && `, F1 ${image.f1.toFixed(2)}`}
        </span>
      </figcaption>
    </figure>
  );
}

function Drawn({ path, name }: { path: Address; name: string }): ReactNode {
  const { url, error } = usePicture(path);
  if (error) return <Empty title={error instanceof Error ? error.message : "It cannot be shown"} />;
  return url ? <img src={url} alt={`Labels and detections of ${name}`} /> : <div className="skeleton tall" />;
}
