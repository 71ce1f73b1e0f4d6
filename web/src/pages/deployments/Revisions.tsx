/** Every revision there was, with its replicas and the way to their logs. */
import { Fragment, type ReactNode } from "react";
import { Link } from "react-router";
import type { Deployment, Revision } from "../../api/types";
import { colorAt } from "../../charts/palette";
import { useTheme } from "../../theme/theme";
import { wordOf } from "../../text/state";
import { Icon } from "../../ui/Icon";
import { Ago, StateBadge } from "../../ui/parts";
import { roleOf, sourceLabel } from "./traffic";
import { ROLE_WORDS } from "./TrafficSplit";

interface Props {
  deployment: Deployment;
  onPin: (revision: number) => void;
}

export function Revisions({ deployment, onPin }: Props): ReactNode {
  return (
    <div className="table-wrap">
      <table className="table" aria-label="Revisions">
        <thead>
          <tr>
            <th>Revision</th>
            <th>Model</th>
            <th>State</th>
            <th className="num">Replicas</th>
            <th>Slots each</th>
            <th>Logs</th>
            <th className="num">Made</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deployment.revisions.map((each) => (
            <Row key={each.number} revision={each} deployment={deployment} onPin={onPin} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ revision, deployment, onPin }: Props & { revision: Revision }): ReactNode {
  const theme = useTheme();
  const role = roleOf(deployment, revision.number);
  const isAlone = role === "stable" && !deployment.canaryRevision;
  return (
    <Fragment>
      <tr>
        <td>
          <span className="row">
            <span className="swatch" style={{ background: colorAt(revision.number, theme) }} />
            {revision.number}
            {role && <span className="badge">{ROLE_WORDS[role]}</span>}
          </span>
        </td>
        <td>
          {revision.modelName ? (
            <Link to={`/models/${encodeURIComponent(revision.modelName)}`}>{sourceLabel(revision.source)}</Link>
          ) : (
            <span className="clip mono" title={revision.source}>
              {sourceLabel(revision.source)}
            </span>
          )}
        </td>
        <td>
          <StateBadge state={revision.state} />
        </td>
        <td className="num">
          {revision.replicasReady} of {revision.replicasWanted}
        </td>
        <td>{revision.serving.slots || "processor only"}</td>
        <td>
          <span className="row">
            {revision.replicas.map((replica, at) => (
              <Link
                key={replica.taskId}
                to={`/tasks/${encodeURIComponent(replica.taskId)}`}
                title={`${replica.taskId} ${replica.address}`}
                aria-label={`${wordOf(replica.state)}: Log of replica ${at + 1} of revision ${revision.number}`}
              >
                <StateBadge state={replica.state} />
              </Link>
            ))}
            {!revision.replicas.length && <span className="faint">–</span>}
          </span>
        </td>
        <td className="num">
          <Ago when={revision.createdAt} />
        </td>
        <td style={{ width: 1 }}>
          <button
            className="btn quiet"
            aria-label={`Pin revision ${revision.number}`}
            title="Send all requests to this revision"
            disabled={isAlone}
            onClick={() => onPin(revision.number)}
          >
            <Icon name="check" />
            Pin
          </button>
        </td>
      </tr>
      {revision.reason && (
        <tr>
          <td />
          <td colSpan={7} className="reason">
            {revision.reason}
          </td>
        </tr>
      )}
    </Fragment>
  );
}
