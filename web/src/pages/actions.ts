/** What can be done to an experiment, when it is possible, and what it means. */
import { patch, post, remove } from "../api/http";
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

export const actOn = (id: number, verb: Verb): Promise<unknown> => post(`/api/v1/experiments/${id}/${verb}`);
export const deleteExperiment = (id: number): Promise<unknown> => remove(`/api/v1/experiments/${id}`);
export const setLabels = (id: number, labels: readonly string[]): Promise<unknown> =>
  patch(`/api/v1/experiments/${id}`, { id, labels });
export const patchExperiment = (
  id: number,
  change: { name?: string; description?: string; notes?: string; labels?: string[] },
): Promise<unknown> => patch(`/api/v1/experiments/${id}`, { id, ...change });
export const moveExperiment = (id: number, projectId: number): Promise<unknown> =>
  post(`/api/v1/experiments/${id}/move`, { experimentId: id, destinationProjectId: projectId });
export const continueExperiment = (id: number, overrideConfig: string): Promise<unknown> =>
  post("/api/v1/experiments/continue", { id, overrideConfig });
