/**
 * Notes in markdown: marked reads them, React draws them. Never as raw HTML, and nothing is fetched from elsewhere.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { createElement, type ReactNode } from "react";

export function Markdown({ text }: { text: string }): ReactNode {
  return <div className="prose">{drawn(lexer(text))}</div>;
}

const drawn = (tokens: readonly Token[] | undefined): ReactNode[] =>
  (tokens ?? []).map((token, key) => <Piece key={key} token={token as MarkedToken} />);

function Piece({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case "heading":
      // The page has its own first heading.
      return createElement(`h${Math.min(token.depth + 1, 6)}`, null, drawn(token.tokens));
    case "paragraph":
      return <p>{drawn(token.tokens)}</p>;
    case "blockquote":
      return <blockquote>{drawn(token.tokens)}</blockquote>;
    case "list":
      return <Listing list={token} />;
    case "checkbox":
      return <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? "Done" : "To do"} />;
    case "code":
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      );
    case "table":
      return <Table table={token} />;
    case "hr":
      return <hr />;
    case "br":
      return <br />;
    case "strong":
      return <strong>{drawn(token.tokens)}</strong>;
    case "em":
      return <em>{drawn(token.tokens)}</em>;
    case "del":
      return <del>{drawn(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "link":
      return <Anchor href={token.href}>{drawn(token.tokens)}</Anchor>;
    case "image":
      return <Picture image={token} />;
    case "space":
    case "def":
      return null;
    case "text":
      return token.tokens ? drawn(token.tokens) : token.text;
    default:
      // Markup of another kind is shown as it was written.
      return token.raw;
  }
}

function Listing({ list }: { list: Tokens.List }): ReactNode {
  const items = list.items.map((item, at) => (
    <li key={at} className={item.task ? "task" : ""}>
      {drawn(item.tokens)}
    </li>
  ));
  return list.ordered ? <ol start={list.start || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          {table.header.map((cell, at) => (
            <th key={at}>{drawn(cell.tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{drawn(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Only addresses that lead somewhere harmless become links. */
function Anchor({ href, children }: { href: string; children: ReactNode }): ReactNode {
  if (!/^(https?:\/\/|\/|#|mailto:)/i.test(href)) return children;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

/** The page's policy lets pictures come from this server only; one from elsewhere is a link. */
function Picture({ image }: { image: Tokens.Image }): ReactNode {
  if (/^(\/(?!\/)|data:image\/)/.test(image.href)) return <img src={image.href} alt={image.text} />;
  return <Anchor href={image.href}>{image.text || image.href}</Anchor>;
}
