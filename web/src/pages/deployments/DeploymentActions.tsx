/** What can be done with a deployment, each after a question or a choice. */
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import type { Deployment } from "../../api/types";
import { useFeedback } from "../../ui/Feedback";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { RolloutDialog, type Rollout } from "./RolloutDialog";
import type { SourceBody } from "./SourceFields";
import { SettingsDialog } from "./SettingsDialog";

const FIRST_PERCENT = 10;

export function DeploymentActions({ deployment }: { deployment: Deployment }): ReactNode {
  const { ask, say } = useFeedback();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [rollout, setRollout] = useState<Rollout | null>(null);
  const [settings, setSettings] = useState(false);
  const path = { deployment_name: deployment.name };
  const finish = async (change: Promise<unknown>, done: string): Promise<void> => {
    await change;
    await refresh();
    say(done);
  };
  const shift = (to: "canary" | "shadow", done: string) => (model: SourceBody, percent: number) =>
    finish(api.post(`/api/v1/deployments/{deployment_name}/${to}`, { path, body: { ...model, percent } }), done);
  const { canaryRevision: canary, shadowRevision: shadow } = deployment;
  const stable = deployment.revisions.find((each) => each.number === deployment.stableRevision);
  const promote = (): void =>
    ask({
      title: `Promote revision ${canary}?`,
      text: "It gets all requests from now on. The revision before stays known, to roll back to.",
      action: "Promote",
      run: () =>
        finish(
          api.post("/api/v1/deployments/{deployment_name}/promote", { path }),
          `Revision ${canary} answers all requests`,
        ),
    });
  const rollBack = (): void =>
    ask({
      title: canary ? `Give up revision ${canary}?` : "Roll back?",
      text: canary
        ? "All requests go to the stable revision again. Requests under way are answered."
        : `All requests go to revision ${deployment.previousRevision} again, once it is ready.`,
      action: "Roll back",
      danger: true,
      run: () => finish(api.post("/api/v1/deployments/{deployment_name}/rollback", { path }), "Rolled back"),
    });
  const startCanary: Rollout = {
    title: "Start a canary",
    text: "Another model gets a share of the requests. It is taken back by itself when it does worse.",
    action: "Start canary",
    source: true,
    percent: FIRST_PERCENT,
    run: shift("canary", "The canary starts"),
  };
  const changeShare: Rollout = {
    title: "Share of the canary",
    text: `Revision ${canary} gets this share of the requests.`,
    action: "Change share",
    source: false,
    percent: deployment.canaryPercent,
    run: shift("canary", "Share changed"),
  };
  const update: Rollout = {
    title: "Move to another model",
    text: "All requests go to it as soon as it is ready; none is lost on the way.",
    action: "Update",
    source: true,
    run: (model) =>
      finish(
        api.post("/api/v1/deployments/{deployment_name}/update", { path, body: model }),
        "The new revision starts",
      ),
  };
  const startShadow: Rollout = {
    title: shadow ? "Share of the shadow" : "Start a shadow",
    text: "It gets copies of requests; its answers are counted and dropped.",
    action: shadow ? "Change share" : "Start shadow",
    source: !shadow,
    percent: shadow ? deployment.shadowPercent : 100,
    run: shift("shadow", shadow ? "Share changed" : "The shadow starts"),
  };
  const stopShadow = (): void =>
    ask({
      title: "Stop the shadow?",
      text: `Revision ${shadow} gets no more copies and its replicas leave.`,
      action: "Stop",
      done: "Shadow stopped",
      run: () => api.delete("/api/v1/deployments/{deployment_name}/shadow", { path }).then(refresh),
    });
  const drop = (): void =>
    ask({
      title: `Delete ${deployment.name}?`,
      text: "It takes no new requests from now on, and is gone when those under way are answered.",
      action: "Delete",
      danger: true,
      done: `${deployment.name} is taken down`,
      run: async () => {
        await api.delete("/api/v1/deployments/{deployment_name}", { path });
        await navigate("/deployments");
        await refresh();
      },
    });
  return (
    <>
      {canary ? (
        <>
          <button className="btn primary" onClick={promote}>
            Promote
          </button>
          <button className="btn" onClick={() => setRollout(changeShare)}>
            Change share
          </button>
        </>
      ) : (
        <button className="btn" onClick={() => setRollout(startCanary)}>
          Canary
        </button>
      )}
      {(canary || deployment.previousRevision) && (
        <button className="btn danger" onClick={rollBack}>
          Roll back
        </button>
      )}
      <Menu name="More actions" label={<Icon name="more" />} className="btn icon">
        <button className="menu-item" onClick={() => setRollout(update)}>
          <Icon name="model" />
          Update
        </button>
        <button className="menu-item" onClick={() => setRollout(startShadow)}>
          <Icon name="compare" />
          {shadow ? "Share of the shadow" : "Shadow"}
        </button>
        {shadow && (
          <button className="menu-item" onClick={stopShadow}>
            <Icon name="stop" />
            Stop the shadow
          </button>
        )}
        <button className="menu-item" onClick={() => setSettings(true)}>
          <Icon name="columns" />
          Scaling and settings
        </button>
        <div className="menu-sep" />
        <button className="menu-item danger" onClick={drop}>
          <Icon name="trash" />
          Delete
        </button>
      </Menu>
      {rollout && <RolloutDialog rollout={rollout} model={stable?.modelName ?? ""} onClose={() => setRollout(null)} />}
      {settings && (
        <SettingsDialog
          deployment={deployment}
          onClose={() => setSettings(false)}
          onSaved={() => refresh().then(() => say("Settings saved"))}
        />
      )}
    </>
  );
}

export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ["deployments"] });
}
