/** One deployment while it answers: who gets which share, how fast and how well, and a box to try it. */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useParams } from "react-router";
import { deploymentQuery, trafficQuery, type Traffic } from "../../api/deployments";
import { useLive } from "../../api/events";
import { api } from "../../api/client";
import type { Deployment } from "../../api/types";
import { useFeedback } from "../../ui/Feedback";
import { Ago, Empty, ErrorNote, Facts, Loading, PageHead, Panel, Segment, StateBadge } from "../../ui/parts";
import { useNow } from "../../ui/useNow";
import { Lineage } from "../models/Lineage";
import { DeploymentActions, useRefresh } from "./DeploymentActions";
import { Revisions } from "./Revisions";
import { SPANS, TrafficCharts, type Span } from "./TrafficCharts";
import { TrafficSplit } from "./TrafficSplit";
import { TryIt } from "./TryIt";

const NOTHING: Traffic = { points: [], stepS: 1, recent: [], recentS: 30 };

export default function DeploymentPage(): ReactNode {
  const name = useParams()["name"] ?? "";
  useLive([`deployment/${name}`], [["deployments", name]]);
  const { data: deployment, error, isPending } = useQuery({ ...deploymentQuery(name), refetchInterval: 3000 });
  if (isPending) return <Loading />;
  if (!deployment) return <ErrorNote error={error} />;
  return (
    <>
      <PageHead
        title={
          <>
            {deployment.name} <StateBadge state={deployment.state} />
            {deployment.public && <span className="badge">Public</span>}
          </>
        }
        crumbs={[{ label: "Deployments", to: "/deployments" }]}
        actions={deployment.state !== "STATE_DELETING" && <DeploymentActions deployment={deployment} />}
      >
        <span className="mono muted">{deployment.url}</span>
      </PageHead>
      <ErrorNote error={error} />
      <Live deployment={deployment} />
      <Panel title="Try it">
        <TryIt deployment={deployment} />
      </Panel>
      <Pinning deployment={deployment} />
      <Panel title="Where it comes from">
        <Lineage kind="deployment" id={deployment.name} />
      </Panel>
      <About deployment={deployment} />
    </>
  );
}

function Live({ deployment }: { deployment: Deployment }): ReactNode {
  const [span, setSpan] = useState<Span>("300");
  const now = useNow(1000) / 1000;
  const query = useQuery(trafficQuery(deployment.name, Number(span)));
  const traffic = query.data ?? NOTHING;
  return (
    <>
      <Panel title="Traffic" actions={<Segment label="Time shown" value={span} options={SPANS} onChange={setSpan} />}>
        {deployment.revisions.length ? (
          <TrafficSplit deployment={deployment} traffic={traffic} />
        ) : (
          <Empty title="No revision yet" />
        )}
      </Panel>
      <ErrorNote error={query.error} />
      <TrafficCharts traffic={traffic} seconds={Number(span)} now={now} />
    </>
  );
}

function Pinning({ deployment }: { deployment: Deployment }): ReactNode {
  const { ask } = useFeedback();
  const refresh = useRefresh();
  const pin = (revision: number): void =>
    ask({
      title: `Pin revision ${revision}?`,
      text: "All requests go to it as soon as it is ready. A canary is given up.",
      action: "Pin",
      done: `Revision ${revision} is pinned`,
      run: () =>
        api
          .post("/api/v1/deployments/{deployment_name}/pin", {
            path: { deployment_name: deployment.name },
            body: { revision },
          })
          .then(refresh),
    });
  return (
    <Panel title="Revisions, newest first" flush>
      <Revisions deployment={deployment} onPin={pin} />
    </Panel>
  );
}

function About({ deployment }: { deployment: Deployment }): ReactNode {
  const { scaling, guard } = deployment;
  const unit = scaling.metric === "rate" ? "requests/s" : "requests at once";
  return (
    <Panel title="Settings">
      <Facts
        items={[
          ["Replicas", `${scaling.minReplicas} to ${scaling.maxReplicas}`],
          ["Grows above", `${scaling.target} ${unit} per replica`],
          scaling.minReplicas === 0 ? ["Down to zero after", `${scaling.idleS} s without a request`] : null,
          [
            "Canary is taken back",
            guard.enabled
              ? `at ${Math.round(100 * guard.errorRateMargin)} % more errors or ${guard.latencyFactor}× the p95, after ${guard.minRequests} requests`
              : "by people only",
          ],
          ["Same caller, same revision", deployment.sticky || "no"],
          [
            "Host header",
            <span key="h" className="mono">
              {deployment.host}
            </span>,
          ],
          ["By", deployment.username],
          ["Created", <Ago key="c" when={deployment.createdAt} />],
          ["Changed", <Ago key="u" when={deployment.updatedAt} />],
        ]}
      />
    </Panel>
  );
}
