import type { ReactNode } from "react";
import { Link } from "react-router";
import { Icon } from "../ui/Icon";
import { PageHead } from "../ui/parts";
import { ExperimentList } from "./list/ExperimentList";

export function ExperimentsPage(): ReactNode {
  return (
    <>
      <PageHead
        title="Experiments"
        actions={
          <Link className="btn primary" to="/experiments/new">
            <Icon name="plus" />
            New experiment
          </Link>
        }
      />
      <ExperimentList />
    </>
  );
}
