import "@fontsource-variable/inter/wght.css";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/shell.css";
import "./theme/parts.css";
import "./theme/table.css";
import "./theme/content.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { connection } from "./api/connection";
import { ApiError } from "./api/http";
import { App } from "./App";
import { FeedbackProvider } from "./ui/Feedback";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      refetchOnWindowFocus: false,
      // What the browser thinks of its network says nothing about a server on this machine.
      networkMode: "always",
      // A refusal stays a refusal; only silence is worth asking again, and the connection watch does that.
      retry: (failures, error) => failures < 1 && !(error instanceof ApiError),
    },
    mutations: { networkMode: "always" },
  },
});

let wasUp = true;
connection.watch(() => {
  const isUp = connection.state === "up";
  if (isUp && !wasUp) void client.invalidateQueries();
  wasUp = isUp;
});

// What a boundary catches it also says, once.
createRoot(document.getElementById("root")!, { onCaughtError: () => undefined }).render(
  <QueryClientProvider client={client}>
    <BrowserRouter basename={import.meta.env.BASE_URL}>
      <FeedbackProvider>
        <App />
      </FeedbackProvider>
    </BrowserRouter>
  </QueryClientProvider>,
);
