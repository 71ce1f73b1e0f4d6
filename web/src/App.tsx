/** Which page answers which address. Pages beyond the first two load when they are opened. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, type ReactNode } from "react";
import { Link, Navigate, Route, Routes, useLocation } from "react-router";
import { meQuery } from "./api/queries";
import { session, useSession } from "./api/session";
import { isOfTask, openTask } from "./api/taskPages";
import { HomePage } from "./pages/HomePage";
import { ExperimentsPage } from "./pages/ExperimentsPage";
import { SignInPage } from "./pages/SignInPage";
import { Shell } from "./Shell";
import { PageBoundary } from "./ui/PageBoundary";
import { Empty, ErrorNote, Loading } from "./ui/parts";

const CreatePage = lazy(() => import("./pages/create/CreatePage"));
const ExperimentPage = lazy(() => import("./pages/experiment/ExperimentPage"));
const TrialPage = lazy(() => import("./pages/trial/TrialPage"));
const ComparePage = lazy(() => import("./pages/ComparePage"));
const DatasetsPage = lazy(() => import("./pages/datasets/DatasetsPage"));
const DatasetPage = lazy(() => import("./pages/datasets/DatasetPage"));
const ModelsPage = lazy(() => import("./pages/models/ModelsPage"));
const ModelPage = lazy(() => import("./pages/models/ModelPage"));
const DeploymentsPage = lazy(() => import("./pages/deployments/DeploymentsPage"));
const DeploymentPage = lazy(() => import("./pages/deployments/DeploymentPage"));
const CheckpointPage = lazy(() => import("./pages/checkpoint/CheckpointPage"));
const QueuePage = lazy(() => import("./pages/QueuePage"));
const ClusterPage = lazy(() => import("./pages/ClusterPage"));
const TaskPage = lazy(() => import("./pages/TaskPage"));
const WorkspacesPage = lazy(() => import("./pages/WorkspacesPage"));
const WorkspacePage = lazy(() => import("./pages/WorkspacePage"));
const ProjectPage = lazy(() => import("./pages/ProjectPage"));
const UsersPage = lazy(() => import("./pages/UsersPage"));
const AccountPage = lazy(() => import("./pages/AccountPage"));

export function App(): ReactNode {
  const state = useSession();
  const client = useQueryClient();
  useEffect(() => {
    // Whoever signs in next must not see what was fetched for somebody else.
    if (state === "out") client.clear();
  }, [state, client]);
  const { pathname, search } = useLocation();
  if (state === "unknown") return <Entrance />;
  if (state === "out") {
    const next =
      pathname === "/signin" ? search : pathname === "/" ? "" : `?next=${encodeURIComponent(pathname + search)}`;
    return (
      <Routes>
        <Route path="/signin" element={<SignInPage />} />
        <Route path="*" element={<Navigate to={`/signin${next}`} replace />} />
      </Routes>
    );
  }
  return (
    <Shell>
      <PageBoundary place={pathname}>
        <Suspense fallback={<Loading />}>
          <Routes>
            <Route path="/" element={<HomePage />} />
            <Route path="/signin" element={<SignedIn next={new URLSearchParams(search).get("next") ?? "/"} />} />
            <Route path="/experiments" element={<ExperimentsPage />} />
            <Route path="/experiments/new" element={<CreatePage />} />
            <Route path="/experiments/:id/*" element={<ExperimentPage />} />
            <Route path="/trials/:id/*" element={<TrialPage />} />
            <Route path="/compare" element={<ComparePage />} />
            <Route path="/datasets" element={<DatasetsPage />} />
            <Route path="/datasets/:name" element={<DatasetPage />} />
            <Route path="/datasets/:name/:version" element={<DatasetPage />} />
            <Route path="/models" element={<ModelsPage />} />
            <Route path="/models/:name" element={<ModelPage />} />
            <Route path="/deployments" element={<DeploymentsPage />} />
            <Route path="/deployments/:name" element={<DeploymentPage />} />
            <Route path="/checkpoints/:uuid" element={<CheckpointPage />} />
            <Route path="/queue" element={<QueuePage />} />
            <Route path="/cluster" element={<ClusterPage />} />
            <Route path="/tasks/:id" element={<TaskPage />} />
            <Route path="/workspaces" element={<WorkspacesPage />} />
            <Route path="/workspaces/:id" element={<WorkspacePage />} />
            <Route path="/projects/:id" element={<ProjectPage />} />
            <Route path="/users" element={<UsersPage />} />
            <Route path="/account" element={<AccountPage />} />
            <Route
              path="*"
              element={
                <Empty title="There is no page at this address">
                  <Link to="/">Go to the first page</Link>
                </Empty>
              }
            />
          </Routes>
        </Suspense>
      </PageBoundary>
    </Shell>
  );
}

/** On to what was asked for. A browser that comes from another site's page shows its cookie only from here on. */
function SignedIn({ next }: { next: string }): ReactNode {
  const leaves = isOfTask(next);
  useEffect(() => {
    if (leaves) openTask(next);
  }, [leaves, next]);
  return leaves ? <Loading /> : <Navigate to={next} replace />;
}

/** Until the server has said who is signed in: a refusal ends the session, an answer opens it. */
function Entrance(): ReactNode {
  const me = useQuery({ ...meQuery, staleTime: 0 });
  const isKnown = me.isSuccess && !me.isFetching;
  useEffect(() => {
    if (isKnown) session.begin();
  }, [isKnown]);
  return <div className="page">{me.error ? <ErrorNote error={me.error} /> : <Loading />}</div>;
}
