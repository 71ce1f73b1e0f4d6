/** Source text to read: line numbers and a little colour. And a plain editor that can mark a line. */
import { useRef, type ReactNode } from "react";
import { foldDiff, type DiffLine } from "../text/diff";
import { highlight } from "../text/highlight";

export function CodeView({
  text,
  language,
  maxHeight = "70vh",
}: {
  text: string;
  language: string;
  maxHeight?: string;
}): ReactNode {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <div className="code" style={{ maxHeight }} tabIndex={0}>
      <div className="gutter" aria-hidden>
        {lines.map((_, i) => i + 1).join("\n")}
      </div>
      <pre>
        {lines.map((line, i) => (
          <div key={i}>
            {highlight(line, language).map((token, t) =>
              token.kind ? (
                <span key={t} className={`tok-${token.kind}`}>
                  {token.text}
                </span>
              ) : (
                token.text
              ),
            )}
            {line ? "" : "\n"}
          </div>
        ))}
      </pre>
    </div>
  );
}

export function DiffView({ lines }: { lines: readonly DiffLine[] }): ReactNode {
  const sign = { add: "+", del: "−", same: " ", skip: "" };
  return (
    <div className="diff" tabIndex={0}>
      {foldDiff([...lines]).map((line, i) => (
        <div key={i} className={line.kind}>
          <span>{line.left ?? ""}</span>
          <span>{line.right ?? ""}</span>
          <span>
            {sign[line.kind]} {line.text}
          </span>
        </div>
      ))}
    </div>
  );
}

interface EditorProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  badLine?: number | undefined;
  rows?: number;
}

export function Editor({ value, onChange, label, badLine, rows = 24 }: EditorProps): ReactNode {
  const gutter = useRef<HTMLDivElement>(null);
  const count = value.split("\n").length;
  return (
    <div className="editor" style={{ height: rows * 18 + 16 }}>
      <div className="gutter" ref={gutter} aria-hidden>
        {Array.from({ length: count }, (_, i) => (
          <div key={i} className={i + 1 === badLine ? "bad" : ""}>
            {i + 1}
          </div>
        ))}
      </div>
      <textarea
        className="textarea"
        aria-label={label}
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
