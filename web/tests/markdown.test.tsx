import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { Markdown } from "../src/text/markdown";

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);

describe("markdown", () => {
  test("lists may stand in lists", () =>
    expect(html("- a\n  - b\n- c")).toContain('<li class="">a<ul><li class="">b</li></ul></li>'));
  test("strikes out", () => expect(html("~~no~~")).toContain("<del>no</del>"));
  test("tasks have their box", () => expect(html("- [x] done\n- [ ] not")).toMatch(/checked="".*done.*not/s));
  test("tables, code and emphasis", () => {
    expect(html("| a | b |\n|---|---|\n| 1 | **2** |")).toContain("<td><strong>2</strong></td>");
    expect(html("```py\nx < 1\n```")).toContain("<pre><code>x &lt; 1</code></pre>");
  });
  test("pictures come from this server; others are links", () => {
    expect(html("![p](/api/v1/x.png)")).toContain('<img src="/api/v1/x.png" alt="p"/>');
    expect(html("![p](https://elsewhere/x.png)")).not.toContain("<img");
    expect(html("![p](//elsewhere/x.png)")).not.toContain("<img");
  });
  test("markup is text and scripts are no links", () => {
    expect(html("<img src=x onerror=alert(1)>")).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(html("[x](javascript:alert(1))")).not.toContain("href");
  });
});
