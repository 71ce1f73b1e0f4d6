import { useQueries, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { post } from "../api/http";
import { offers } from "../api/offers";
import { interactiveQuery, TASK_KINDS, type TaskKind } from "../api/queries";
import type { InteractiveTask } from "../api/types";
import { useFeedback } from "../ui/Feedback";
import { Icon } from "../ui/Icon";
import { Ago, Empty, ErrorNote, Loading, PageHead, Panel, StateBadge } from "../ui/parts";

const WORDS: Record<TaskKind, string> = {
  notebooks: "JupyterLab",
  tensorboards: "TensorBoard",
  shells: "Shell",
  commands: "Command",
};

export default function TasksPage(): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { ask, complain, say } = useFeedback();
  const answers = useQueries({
    queries: TASK_KINDS.map((kind) => ({ ...interactiveQuery(kind), refetchInterval: 3000, retry: false })),
  });
  const error = answers.find((answer) => answer.error)?.error;
  const rows = TASK_KINDS.flatMap((kind, i) => (answers[i]!.data ?? []).map((task) => ({ kind, task }))).sort((a, b) =>
    b.task.startTime.localeCompare(a.task.startTime),
  );
  const launch = async (): Promise<void> => {
    try {
      const answer = await post<{ notebook: InteractiveTask }>("/api/v1/notebooks", { config: {} });
      say("JupyterLab is starting");
      await navigate(`/tasks/${answer.notebook.id}`);
    } catch (problem) {
      complain(problem);
    }
  };
  const kill = (kind: TaskKind, task: InteractiveTask): void =>
    ask({
      title: `Kill ${WORDS[kind]}?`,
      text: task.description,
      action: "Kill",
      danger: true,
      done: `${WORDS[kind]} killed`,
      run: async () => {
        await post(`/api/v1/${kind}/${task.id}/kill`);
        await client.invalidateQueries({ queryKey: ["tasks", kind] });
      },
    });
  return (
    <>
      <PageHead
        title="Tasks"
        actions={
          offers("LaunchNotebook") && (
            <button className="btn primary" onClick={() => void launch()}>
              <Icon name="plus" />
              Start JupyterLab
            </button>
          )
        }
      />
      <ErrorNote error={error} />
      <Panel flush>
        {answers.some((answer) => answer.isPending) ? (
          <Loading />
        ) : !rows.length ? (
          <Empty title="No task is running">
            <p>JupyterLab, TensorBoard, shells and commands are listed here while they run.</p>
          </Empty>
        ) : (
          <div className="table-wrap">
            <table className="table" aria-label="Tasks">
              <thead>
                <tr>
                  <th>Kind</th>
                  <th>Description</th>
                  <th>State</th>
                  <th>User</th>
                  <th className="num">Started</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {rows.map(({ kind, task }) => (
                  <tr key={task.id}>
                    <td>{WORDS[kind]}</td>
                    <td>
                      <Link className="clip" to={`/tasks/${task.id}`}>
                        {task.description || task.id}
                      </Link>
                    </td>
                    <td>
                      <StateBadge state={task.state} />
                    </td>
                    <td>{task.username}</td>
                    <td className="num">
                      <Ago when={task.startTime} />
                    </td>
                    <td style={{ width: 1 }}>
                      <span className="row">
                        {task.serviceAddress && task.state.endsWith("RUNNING") && (
                          <a className="btn" href={task.serviceAddress} target="_blank" rel="noreferrer">
                            Open
                          </a>
                        )}
                        {!task.state.endsWith("TERMINATED") && (
                          <button className="btn danger" onClick={() => kill(kind, task)}>
                            Kill
                          </button>
                        )}
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </>
  );
}
