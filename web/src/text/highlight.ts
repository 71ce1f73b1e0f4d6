/** Just enough colour to read Python, YAML, JSON and shell by. Works line by line; no grammar, no dependency. */
export interface Token {
  kind: "" | "c" | "s" | "k" | "n" | "p";
  text: string;
}

const PYTHON =
  /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|from|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b|\b(\d[\d_.]*(?:e[+-]?\d+)?)\b/g;
const YAML =
  /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')|\b(true|false|null|yes|no)\b|(?<![\w./-])(-?\d[\d_.]*(?:e[+-]?\d+)?)(?![\w./-])|(^\s*(?:- )*[\w.-]+(?=:))/gi;
const PLAIN = /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')/g;

export function highlight(line: string, language: string): Token[] {
  const pattern =
    language === "py"
      ? PYTHON
      : ["yaml", "yml", "json"].includes(language)
        ? YAML
        : ["sh", "toml", "cfg"].includes(language)
          ? PLAIN
          : null;
  if (!pattern || line.length > 2000) return [{ kind: "", text: line }];
  const tokens: Token[] = [];
  let from = 0;
  for (const match of line.matchAll(pattern)) {
    if (match.index > from) tokens.push({ kind: "", text: line.slice(from, match.index) });
    const kind =
      match[1] !== undefined
        ? "c"
        : match[2] !== undefined
          ? "s"
          : match[3] !== undefined
            ? "k"
            : match[4] !== undefined
              ? "n"
              : "p";
    tokens.push({ kind, text: match[0] });
    from = match.index + match[0].length;
  }
  tokens.push({ kind: "", text: line.slice(from) });
  return tokens.filter((token) => token.text);
}

export const languageOf = (path: string): string => path.split(".").at(-1)?.toLowerCase() ?? "";
