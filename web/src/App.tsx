import { Button } from "@mantine/core";
import { AboutYouView } from "./about/AboutYouView";
import { HelpView } from "./care/HelpView";
import { CompareView } from "./compare/CompareView";
import { ListenersView } from "./compare/ListenersView";
import { Door } from "./layout/Door";
import { Shell } from "./layout/Shell";
import { EmptyState } from "./shared/EmptyState";
import { Notices } from "./shared/Notices";
import { Page } from "./shared/Page";
import { connection } from "./state/connection";
import { goTo, useRoute, type Route } from "./state/route";
import { useStore } from "./state/store";
import { talkFor } from "./state/talks";
import { TalkView } from "./talk/TalkView";
import { words } from "./words/words";

export function App() {
  const reach = useStore(connection, (now) => now);
  const route = useRoute();
  return (
    <>
      <Notices />
      {reach === "locked" ? (
        <Door />
      ) : (
        <Shell>
          <View route={route} />
        </Shell>
      )}
    </>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "talk": {
      const talk = talkFor(route.id);
      return <TalkView key={talk.number} talk={talk} />;
    }
    case "about-you":
      return <AboutYouView />;
    case "listeners":
      return <ListenersView />;
    case "compare":
      return <CompareView />;
    case "help":
      return <HelpView />;
    case "unknown":
      return <Unknown />;
  }
}

function Unknown() {
  return (
    <Page title={words("app.not_found")} text={words("app.not_found_more")}>
      <EmptyState icon="ear" title="">
        <Button variant="light" onClick={() => goTo({ view: "talk", id: null })}>
          {words("app.back")}
        </Button>
      </EmptyState>
    </Page>
  );
}
