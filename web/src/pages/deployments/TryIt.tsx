/** Sends one picture or some JSON to the deployment, and shows what comes back: detections drawn, the rest as JSON. */
import { useEffect, useMemo, useState, type DragEvent, type ReactNode } from "react";
import { predict, type Prediction } from "../../api/deployments";
import type { Deployment } from "../../api/types";
import { formatNumber, plural } from "../../text/format";
import { CodeView } from "../../ui/Code";
import { ErrorNote, Segment } from "../../ui/parts";
import { Boxes } from "../datasets/Boxes";
import { coloursOf, detectionsOf, firstThreshold, type Detection } from "./detections";
import { latency } from "./TrafficSplit";

interface Shown {
  url: string;
  name: string;
  /** Zero when the browser cannot show this kind of picture. */
  width: number;
  height: number;
}
type Mode = "picture" | "json";
const MODES = [
  ["picture", "Picture"],
  ["json", "JSON"],
] as const;

export function TryIt({ deployment }: { deployment: Deployment }): ReactNode {
  const [mode, setMode] = useState<Mode>("picture");
  const [picture, setPicture] = useState<Shown | null>(null);
  const [answer, setAnswer] = useState<Prediction | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => () => void (picture && URL.revokeObjectURL(picture.url)), [picture]);
  const askModel = async (body: unknown): Promise<void> => {
    setBusy(true);
    setError(null);
    setAnswer(null);
    try {
      setAnswer(await predict(deployment.name, body));
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const take = async (file: File): Promise<void> => {
    setPicture(await shownOf(file));
    await askModel({ instances: [{ data: await base64Of(file) }] });
  };
  const choose = (next: Mode): void => {
    setMode(next);
    setAnswer(null);
    setError(null);
  };
  return (
    <div className="stack tight">
      <div className="row wrap">
        <Segment label="What is sent" value={mode} options={MODES} onChange={choose} />
        <span className="muted" role="status">
          {busy && "Waiting for the answer …"}
          {answer && `Answered by revision ${answer.revision} in ${latency(answer.ms)}`}
        </span>
      </div>
      {mode === "picture" ? <Drop onFile={(file) => void take(file)} /> : <Json onSend={askModel} busy={busy} />}
      <ErrorNote error={error} />
      {answer && <Result key={answer.ms} answer={answer} picture={mode === "picture" ? picture : null} />}
    </div>
  );
}

function Drop({ onFile }: { onFile: (file: File) => void }): ReactNode {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  };
  return (
    <label
      className={`drop ${over ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <input
        type="file"
        accept="image/*,.tif,.tiff"
        aria-label="Choose a picture"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) onFile(file);
          event.target.value = "";
        }}
      />
      <span>
        <b>Choose a picture</b> or drop one here
      </span>
    </label>
  );
}

function Json({ onSend, busy }: { onSend: (body: unknown) => Promise<void>; busy: boolean }): ReactNode {
  const [text, setText] = useState('{\n  "instances": [[1, 2, 3]]\n}');
  const [mistake, setMistake] = useState<unknown>(null);
  const submit = (): void => {
    try {
      const body: unknown = JSON.parse(text);
      setMistake(null);
      void onSend(body);
    } catch (problem) {
      setMistake(problem);
    }
  };
  return (
    <>
      <textarea
        className="textarea mono"
        aria-label="Request in JSON"
        rows={7}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <ErrorNote error={mistake} />
      <div className="row">
        <button className="btn primary" disabled={busy} onClick={submit}>
          Send
        </button>
      </div>
    </>
  );
}

function Result({ answer, picture }: { answer: Prediction; picture: Shown | null }): ReactNode {
  const first = Array.isArray(answer.predictions) ? (answer.predictions[0] as unknown) : undefined;
  const found = picture?.width ? detectionsOf(first) : null;
  if (found && picture) return <Detections found={found} picture={picture} />;
  return <CodeView text={JSON.stringify(answer.predictions, null, 2)} language="json" maxHeight="360px" />;
}

function Detections({ found, picture }: { found: readonly Detection[]; picture: Shown }): ReactNode {
  const [least, setLeast] = useState(() => firstThreshold(found));
  const colours = useMemo(() => coloursOf(found), [found]);
  const shown = found.filter((each) => each.score >= least);
  const boxes = shown.map(({ box, label, score }) => ({
    box,
    label: `${label} ${formatNumber(score, 2)}`,
    color: colours.get(label) ?? 0,
  }));
  return (
    <div className="tried">
      <div className="image-large">
        <Boxes width={picture.width} height={picture.height} boxes={boxes} thin={shown.length > 60}>
          <image href={picture.url} width={picture.width} height={picture.height} />
        </Boxes>
      </div>
      <div className="stack tight">
        <label className="field">
          <span className="label">Score from {formatNumber(least, 2)}</span>
          <input
            type="range"
            aria-label="Smallest score"
            min={0}
            max={1}
            step={0.01}
            value={least}
            onChange={(event) => setLeast(event.target.valueAsNumber)}
          />
        </label>
        <span className="muted" data-shown={shown.length}>
          {shown.length} of {plural(found.length, "detection")} shown, {picture.name}, {picture.width} ×{" "}
          {picture.height} pixels
        </span>
        <div className="table-wrap" style={{ maxHeight: 420 }}>
          <table className="table" aria-label="Detections">
            <thead>
              <tr>
                <th>Class</th>
                <th className="num">Score</th>
                <th className="num">Size, pixels</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ label, score, box: [x1, y1, x2, y2] }, at) => (
                <tr key={at}>
                  <td>{label}</td>
                  <td className="num">{formatNumber(score, 3)}</td>
                  <td className="num">
                    {Math.round(x2 - x1)} × {Math.round(y2 - y1)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  );
}

async function shownOf(file: File): Promise<Shown> {
  const url = URL.createObjectURL(file);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } catch {
    // A TIFF, say: the model reads it, the browser does not.
    return { url, name: file.name, width: 0, height: 0 };
  }
  return { url, name: file.name, width: image.naturalWidth, height: image.naturalHeight };
}

async function base64Of(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}
