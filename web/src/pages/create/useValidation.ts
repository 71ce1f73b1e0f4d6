import { useEffect, useState } from "react";
import { api, type Request } from "../../api/client";
import { ApiError } from "../../api/http";

export interface Validation {
  state: "unknown" | "good" | "bad";
  message: string;
  line?: number | undefined;
}

/** Asks the server about the text once typing stops. What it refuses names the line, which is marked in the editor. */
const PAUSE_MS = 400;
const UNKNOWN: Validation = { state: "unknown", message: "" };

type Body = Request<"post", "/api/v1/experiments">["body"];

export function useValidation(body: Body, text: string): Validation {
  const [answer, setAnswer] = useState<Validation & { question: string }>({ ...UNKNOWN, question: "" });
  const isEmpty = !text.trim();
  const question = JSON.stringify(body);
  useEffect(() => {
    if (isEmpty) return;
    let current = true;
    const timer = setTimeout(() => {
      api
        .post("/api/v1/experiments", { body: { ...(JSON.parse(question) as Body), validateOnly: true } })
        .then((accepted) => current && setAnswer({ question, state: "good", message: accepted.messages.join(" ") }))
        .catch((error: unknown) => {
          if (!current || !(error instanceof ApiError) || error.status === 0) return;
          setAnswer({ question, state: "bad", message: error.message, line: lineOf(error.message) });
        });
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [question, isEmpty]);
  // What was said of an earlier text says nothing of this one.
  return answer.question === question ? answer : UNKNOWN;
}

/** "line 7" wherever a message says it, or "config.yaml:7:". */
export function lineOf(message: string): number | undefined {
  const found = /\bline (\d+)/i.exec(message) ?? /(?:ya?ml|config|<[^>]*>):(\d+)\b/i.exec(message);
  return found ? Number(found[1]) : undefined;
}
