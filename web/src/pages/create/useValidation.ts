import { useEffect, useState } from "react";
import { ApiError, post } from "../../api/http";

const PAUSE_MS = 400;

export interface Validation {
  state: "unknown" | "good" | "bad";
  message: string;
  line?: number | undefined;
}

/** Asks the server about the text once typing stops. What it refuses names the line, which is marked in the editor. */
export function useValidation(body: object, text: string): Validation {
  const [answer, setAnswer] = useState<Validation>({ state: "unknown", message: "" });
  const question = JSON.stringify(body);
  useEffect(() => {
    setAnswer({ state: "unknown", message: "" });
    if (!text.trim()) return;
    let current = true;
    const timer = setTimeout(() => {
      post<{ messages?: string[] }>("/api/v1/experiments", { ...(JSON.parse(question) as object), validateOnly: true })
        .then((accepted) => current && setAnswer({ state: "good", message: (accepted.messages ?? []).join(" ") }))
        .catch((error: unknown) => {
          if (!current || !(error instanceof ApiError) || error.status === 0) return;
          setAnswer({ state: "bad", message: error.message, line: lineOf(error.message) });
        });
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [question]);
  return answer;
}

/** "line 7" wherever a message says it, or "config.yaml:7:". */
export function lineOf(message: string): number | undefined {
  const found = /\bline (\d+)/i.exec(message) ?? /(?:ya?ml|config|<[^>]*>):(\d+)\b/i.exec(message);
  return found ? Number(found[1]) : undefined;
}
