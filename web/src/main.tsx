import "./theme/mantine.css";
import "virtual:mantine-variables.css"; // after Mantine's own, which it replaces
import "./theme/fonts.css";
import "./theme/tokens.css";
import "./theme/base.css";

import { MantineProvider } from "@mantine/core";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Broken } from "./shared/Broken";
import { session } from "./state/session";
import { summaries } from "./state/summaries";
import { listenForShortcuts } from "./state/shortcuts";
import { theme } from "./theme/theme";

// `allears study serve` shows the study's pages at /study; they come in a file of their own
const isStudy = /^\/study\/?$/.test(window.location.pathname);
const StudyApp = lazy(() => import("./study/StudyApp"));
if (!isStudy) {
  void session.load();
  void summaries.load();
  listenForShortcuts();
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <Broken>
        {isStudy ? (
          <Suspense>
            <StudyApp />
          </Suspense>
        ) : (
          <App />
        )}
      </Broken>
    </MantineProvider>
  </StrictMode>,
);
