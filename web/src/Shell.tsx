/** What stays around every page: navigation, who is signed in, and a word when the server is away. */
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, NavLink, useLocation, useNavigate } from "react-router";
import { useConnection } from "./api/connection";
import { api } from "./api/client";
import { infoQuery, meQuery } from "./api/queries";
import { session } from "./api/session";
import { setTheme, useTheme } from "./theme/theme";
import { useFeedback } from "./ui/Feedback";
import { Icon, type IconName } from "./ui/Icon";
import { Menu } from "./ui/Menu";

const WORK: readonly (readonly [string, string, IconName])[] = [
  ["/", "Home", "home"],
  ["/experiments", "Experiments", "flask"],
  ["/datasets", "Datasets", "picture"],
  ["/models", "Models", "model"],
  ["/deployments", "Deployments", "deploy"],
  ["/workspaces", "Workspaces", "folder"],
];
const CLUSTER: readonly (readonly [string, string, IconName])[] = [
  ["/queue", "Job queue", "queue"],
  ["/cluster", "Cluster", "cluster"],
];

export function Shell({ children }: { children: ReactNode }): ReactNode {
  const { pathname } = useLocation();
  // Open on one page only: going elsewhere closes it.
  const [openAt, setOpenAt] = useState<string | null>(null);
  const open = openAt === pathname;
  const setOpen = (isOpen: boolean): void => setOpenAt(isOpen ? pathname : null);
  const me = useQuery(meQuery).data;
  return (
    <div
      className={`shell ${open ? "menu-open" : ""}`}
      onClick={(event) => open && event.target === event.currentTarget && setOpen(false)}
    >
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <aside className="sidebar" aria-label="Navigation">
        <Link className="brand" to="/">
          <Brand /> Resolute
        </Link>
        {WORK.map((item) => (
          <Item key={item[0]} item={item} />
        ))}
        <div className="nav-title">Cluster</div>
        {CLUSTER.map((item) => (
          <Item key={item[0]} item={item} />
        ))}
        {me?.admin && <Item item={["/users", "Users", "users"]} />}
        <div className="nav-gap" />
        <Account />
      </aside>
      <div className="main">
        <div className="topbar">
          <button
            className="btn quiet icon"
            aria-label="Open navigation"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <Icon name="menu" />
          </button>
          <Link className="brand" style={{ padding: 0 }} to="/">
            <Brand /> Resolute
          </Link>
        </div>
        <ConnectionBanner />
        <main className="page" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

export function Brand({ size = 20 }: { size?: number }): ReactNode {
  return <img src={`${import.meta.env.BASE_URL}favicon.svg`} width={size} height={size} alt="" />;
}

function Item({ item: [to, label, icon] }: { item: readonly [string, string, IconName] }): ReactNode {
  return (
    <NavLink className="nav-link" to={to} end={to === "/"}>
      <Icon name={icon} />
      {label}
    </NavLink>
  );
}

function Account(): ReactNode {
  const theme = useTheme();
  const me = useQuery(meQuery).data;
  const master = useQuery(infoQuery).data;
  const navigate = useNavigate();
  const { complain } = useFeedback();
  const leave = async (): Promise<void> => {
    // First to the start: once signed out, the page one is on would be asked for again at the next sign-in.
    await navigate("/");
    try {
      await api.post("/api/v1/auth/logout");
      session.end();
    } catch (problem) {
      // Only the server can take the cookie away: without its answer one is still signed in.
      complain(problem);
    }
  };
  return (
    <div className="row spread" style={{ padding: "0 4px" }}>
      <Menu
        up
        align="left"
        className="btn quiet"
        label={
          <>
            <Icon name="user" />
            <span className="ellipsis" style={{ maxWidth: 90 }}>
              {me?.displayName || me?.username || "…"}
            </span>
          </>
        }
        name={`Account: ${me?.displayName || me?.username || ""}`}
      >
        <Link className="menu-item" to="/account">
          <Icon name="key" />
          Account and tokens
        </Link>
        <button className="menu-item" onClick={() => void leave()}>
          <Icon name="out" />
          Sign out
        </button>
        {master && (
          <>
            <div className="menu-sep" />
            <div className="menu-item faint" style={{ cursor: "default" }}>
              Version {master.resolute_version ?? master.version}
            </div>
          </>
        )}
      </Menu>
      <button
        className="btn quiet icon"
        aria-label={theme === "dark" ? "Use the light theme" : "Use the dark theme"}
        onClick={() => setTheme(theme === "dark" ? "light" : "dark")}
      >
        <Icon name={theme === "dark" ? "sun" : "moon"} />
      </button>
    </div>
  );
}

function ConnectionBanner(): ReactNode {
  if (useConnection() === "up") return null;
  return (
    <div className="banner" role="alert">
      <Icon name="warn" />
      The server does not answer. What you see may be old; this page reconnects by itself.
    </div>
  );
}
