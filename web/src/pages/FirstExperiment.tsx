import type { ReactNode } from "react";
import { Link } from "react-router";
import { Empty } from "../ui/parts";

export function FirstExperiment(): ReactNode {
  return (
    <Empty title="No experiment has run here yet">
      <p>Start one from an example on this page, or from a terminal in the folder with your code:</p>
      <pre>resolute experiment create config.yaml .</pre>
      <Link className="btn primary" to="/experiments/new">
        Start from an example
      </Link>
    </Empty>
  );
}
