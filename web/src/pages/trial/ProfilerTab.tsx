/** System and timing series that a trial reports outside training and validation: utilisation, samples/s, data wait. */
import { useMemo, useState, type ReactNode } from "react";
import { isLearning, metricIds, useTrialSeries } from "../../api/series";
import type { Trial } from "../../api/types";
import { MetricCharts } from "../../charts/MetricCharts";
import { colorAt } from "../../charts/palette";
import { useTheme } from "../../theme/theme";
import { isEnded } from "../../text/state";
import { Empty, ErrorNote, Panel, Segment } from "../../ui/parts";

/** Samples of the machine, one a second; the others (throughput) are counted in batches as training is. */
const SAMPLED = new Set(["cpu", "gpu", "memory", "disk", "network"]);

export function ProfilerTab({ trial }: { trial: Trial }): ReactNode {
  const theme = useTheme();
  const groups = useMemo(
    () => [
      ...new Set(
        metricIds([trial])
          .filter((metric) => !isLearning(metric))
          .map(({ group }) => group),
      ),
    ],
    [trial],
  );
  const [chosen, setChosen] = useState("");
  const group = groups.includes(chosen) ? chosen : (groups[0] ?? "");
  const metrics = useMemo(() => metricIds([trial]).filter((metric) => metric.group === group), [trial, group]);
  const drawn = useTrialSeries(trial.id, metrics, !isEnded(trial.state));
  const inks = useMemo(
    () => [{ id: trial.id, label: `trial ${trial.id}`, color: colorAt(trial.id, theme) }],
    [trial.id, theme],
  );
  if (!group)
    return (
      <Panel>
        <Empty title="This trial was not profiled">
          <p>
            Set <code>profiling: {"{enabled: true}"}</code> in the configuration to see utilisation, samples per second
            and data wait here.
          </p>
        </Empty>
      </Panel>
    );
  return (
    <div className="stack" style={{ gap: "var(--s3)" }}>
      {groups.length > 1 && (
        <Segment
          label="Group"
          value={group}
          options={groups.map((name) => [name, name] as const)}
          onChange={setChosen}
        />
      )}
      <ErrorNote error={drawn.error} />
      <MetricCharts
        metrics={metrics}
        series={drawn.series}
        isPending={drawn.isPending}
        trials={inks}
        timed={SAMPLED.has(group)}
      />
    </div>
  );
}
