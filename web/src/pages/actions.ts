/** What can be done to an experiment, when it is possible, and what it means. */
import { api, type Request } from "../api/client";
import type { Experiment } from "../api/types";
import { isEnded, isPaused, isStopping } from "../text/state";

export type Verb = "pause" | "activate" | "cancel" | "kill" | "archive" | "unarchive";

interface Action {
  word: string;
  past: string;
  meaning: string;
  possible: (experiment: Experiment) => boolean;
}

const canStop = (experiment: Experiment): boolean => !isEnded(experiment.state) && !isStopping(experiment.state);

export const VERBS: Record<Verb, Action> = {
  pause: {
    word: "Pause",
    past: "Pausing",
    meaning: "Trials save a checkpoint and give their slots back. They go on from there when activated.",
    possible: (experiment) => canStop(experiment) && !isPaused(experiment.state),
  },
  activate: {
    word: "Activate",
    past: "Activated",
    meaning: "Trials queue for slots and go on from their last checkpoint.",
    possible: (experiment) => isPaused(experiment.state),
  },
  cancel: {
    word: "Stop",
    past: "Stopping",
    meaning: "Trials save a checkpoint first, then the experiment ends.",
    possible: canStop,
  },
  kill: {
    word: "Kill",
    past: "Killed",
    meaning: "Trials end at once. Work since their last checkpoint is lost.",
    possible: (experiment) => !isEnded(experiment.state),
  },
  archive: {
    word: "Archive",
    past: "Archived",
    meaning: "Archived experiments leave the list but keep everything.",
    possible: (experiment) => isEnded(experiment.state) && !experiment.archived,
  },
  unarchive: {
    word: "Unarchive",
    past: "Unarchived",
    meaning: "They appear in the list again.",
    possible: (experiment) => experiment.archived,
  },
};

export const actOn = (id: number, verb: Verb): Promise<unknown> =>
  api.post(`/api/v1/experiments/{experiment_id}/${verb}`, { path: { experiment_id: id } });
export const deleteExperiment = (id: number): Promise<unknown> =>
  api.delete("/api/v1/experiments/{experiment_id}", { path: { experiment_id: id } });

type Change = Pick<
  Request<"patch", "/api/v1/experiments/{experiment_id}">["body"],
  "name" | "description" | "notes" | "labels"
>;
export const patchExperiment = (id: number, change: Change): Promise<unknown> =>
  api.patch("/api/v1/experiments/{experiment_id}", { path: { experiment_id: id }, body: change });
export const moveExperiment = (id: number, projectId: number): Promise<unknown> =>
  api.post("/api/v1/experiments/{experiment_id}/move", {
    path: { experiment_id: id },
    body: { destinationProjectId: projectId },
  });
export const continueExperiment = (id: number, overrideConfig: string): Promise<unknown> =>
  api.post("/api/v1/experiments/continue", { body: { id, overrideConfig } });
