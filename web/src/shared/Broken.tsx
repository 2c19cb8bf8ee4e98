import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { words } from "../words/words";
import { EmptyState } from "./EmptyState";

/** When the page itself breaks: say so, say that nothing is lost, offer the way back. */
export class Broken extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <main role="alert">
        <EmptyState icon="ear" title={words("app.broken")} text={words("app.broken_more")}>
          <Button onClick={() => window.location.reload()}>{words("app.reload")}</Button>
        </EmptyState>
      </main>
    );
  }
}
