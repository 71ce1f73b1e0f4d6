import { useState, type ReactNode } from "react";
import type { Experiment } from "../../api/types";
import { toYaml } from "../../text/yaml";
import { CodeView } from "../../ui/Code";
import { Empty, Panel, Segment } from "../../ui/parts";

export function ConfigTab({ experiment }: { experiment: Experiment }): ReactNode {
  const [which, setWhich] = useState<"submitted" | "resolved">("submitted");
  const text = which === "submitted" ? experiment.originalConfig : toYaml(experiment.config);
  return (
    <Panel
      title={which === "submitted" ? "As it was submitted" : "With every default filled in"}
      flush
      actions={
        <Segment
          label="Which configuration"
          value={which}
          options={[
            ["submitted", "Submitted"],
            ["resolved", "Resolved"],
          ]}
          onChange={setWhich}
        />
      }
    >
      {text ? (
        <CodeView text={text} language="yaml" />
      ) : (
        <Empty title="No text was submitted">
          <p>This experiment was created by a program. The resolved configuration has all values.</p>
        </Empty>
      )}
    </Panel>
  );
}
