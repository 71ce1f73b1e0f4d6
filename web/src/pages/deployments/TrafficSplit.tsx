/** Who answers how much of the traffic, as a bar and as a line of figures for each. */
import type { ReactNode } from "react";
import { colorAt } from "../../charts/palette";
import type { Traffic } from "../../api/deployments";
import type { Deployment, Revision } from "../../api/types";
import { formatDuration, formatNumber } from "../../text/format";
import { useTheme } from "../../theme/theme";
import { figuresOf, roleOf, sourceLabel, type Role } from "./traffic";

export const ROLE_WORDS: Record<Role, string> = { stable: "Stable", canary: "Canary", shadow: "Shadow", "": "" };

export function SplitBar({ deployment, thin }: { deployment: Deployment; thin?: boolean }): ReactNode {
  const theme = useTheme();
  const parts = answering(deployment);
  const words = parts.map((each) => `revision ${each.number} ${formatNumber(each.trafficPercent)} %`).join(", ");
  return (
    <div
      className={`traffic-bar ${thin ? "thin" : ""}`}
      role="img"
      aria-label={words ? `Traffic: ${words}` : "No revision gets traffic"}
      title={words}
    >
      {parts.map((each) => (
        <i key={each.number} style={{ flexGrow: each.trafficPercent, background: colorAt(each.number, theme) }}>
          {!thin && each.trafficPercent >= 8 && `${formatNumber(each.trafficPercent)} %`}
        </i>
      ))}
    </div>
  );
}

const answering = (deployment: Deployment): Revision[] =>
  deployment.revisions.filter((each) => each.trafficPercent > 0).sort((a, b) => a.number - b.number);

interface Props {
  deployment: Deployment;
  traffic: Traffic;
}

export function TrafficSplit({ deployment, traffic }: Props): ReactNode {
  const rows = deployment.revisions
    .filter((each) => roleOf(deployment, each.number) || each.trafficPercent > 0)
    .sort((a, b) => a.number - b.number);
  return (
    <div className="stack tight">
      <SplitBar deployment={deployment} />
      <div className="table-wrap">
        <table className="table plain" aria-label="Traffic split">
          <thead>
            <tr>
              <th>Revision</th>
              <th>Model</th>
              <th className="num">Share</th>
              <th className="num">Requests/s</th>
              <th className="num">Errors</th>
              <th className="num">p50</th>
              <th className="num">p95</th>
              <th className="num">p99</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((each) => (
              <Row key={each.number} revision={each} deployment={deployment} traffic={traffic} />
            ))}
          </tbody>
        </table>
      </div>
      <span className="faint">Figures of the last {traffic.recentS} seconds, over all their requests.</span>
    </div>
  );
}

function Row({ revision, deployment, traffic }: Props & { revision: Revision }): ReactNode {
  const theme = useTheme();
  const role = roleOf(deployment, revision.number);
  const figures = figuresOf(traffic, revision.number);
  const share =
    role === "shadow" ? `copies of ${deployment.shadowPercent} %` : `${formatNumber(revision.trafficPercent)} %`;
  return (
    <tr>
      <td>
        <span className="row">
          <span className="swatch" style={{ background: colorAt(revision.number, theme) }} />
          {revision.number}
          {role && <span className="badge">{ROLE_WORDS[role]}</span>}
        </span>
      </td>
      <td>{sourceLabel(revision.source)}</td>
      <td className="num">{share}</td>
      <td className="num">{figures.rate ? formatNumber(figures.rate, 3) : "0"}</td>
      <td className="num">{figures.errorShare === null ? "–" : `${formatNumber(100 * figures.errorShare, 3)} %`}</td>
      <td className="num">{latency(figures.p50Ms)}</td>
      <td className="num">{latency(figures.p95Ms)}</td>
      <td className="num">{latency(figures.p99Ms)}</td>
    </tr>
  );
}

export const latency = (ms: number | null): string =>
  ms === null ? "–" : ms < 10 ? `${formatNumber(ms, 2)} ms` : formatDuration(ms / 1000);
