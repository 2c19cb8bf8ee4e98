// @vitest-environment jsdom
import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { session } from "../state/session";
import { Talk } from "../state/talk";
import { draw } from "../testing/draw";
import { about, conversation } from "../testing/madeUp";
import { json, serve } from "../testing/server";
import { ConsentCard } from "./ConsentCard";
import { MessageList } from "./MessageList";
import { PendingExchange } from "./PendingExchange";
import { whereWordsGo } from "./QuietLine";

const ID = "00000000000000aa";

function opened(...said: string[]): Talk {
  const talk = new Talk(ID);
  talk.store.change({ phase: "ready", conversation: conversation(ID, ...said) });
  return talk;
}

test("a message is edited where it stands, and sent in the place of the old one", async () => {
  const talk = opened("On Monday", "I see.");
  const say = vi.spyOn(talk, "say").mockResolvedValue();
  draw(<MessageList talk={talk} turns={talk.store.get().conversation!.turns} chosen={null} onWhy={() => {}} />);
  await userEvent.click(screen.getByRole("button", { name: "Edit your message" }));
  await userEvent.type(screen.getByRole("textbox"), "{Backspace}{Backspace}{Backspace}{Backspace}{Backspace}{Backspace}Friday{Enter}");
  expect(say).toHaveBeenCalledExactlyOnceWith("On Friday", { replaces: 1 });
});

test("Escape leaves a message as it was", async () => {
  const talk = opened("On Monday", "I see.");
  const say = vi.spyOn(talk, "say").mockResolvedValue();
  draw(<MessageList talk={talk} turns={talk.store.get().conversation!.turns} chosen={null} onWhy={() => {}} />);
  await userEvent.click(screen.getByRole("button", { name: "Edit your message" }));
  await userEvent.type(screen.getByRole("textbox"), " or so{Escape}");
  expect(screen.getByText("On Monday")).toBeInTheDocument();
  expect(say).not.toHaveBeenCalled();
});

test("markup in a message is text", () => {
  const talk = opened("<b>hi</b>", "<i>oh</i>");
  draw(<MessageList talk={talk} turns={talk.store.get().conversation!.turns} chosen={null} onWhy={() => {}} />);
  expect(screen.getByText("<b>hi</b>")).toBeInTheDocument();
  expect(screen.getByText("<i>oh</i>")).toBeInTheDocument();
});

test("what is replaced is not shown while the new answer is on its way", () => {
  const talk = opened("a1", "b1", "a2", "b2");
  talk.store.change({ pending: { key: "k", text: "a3", replaces: 3, phase: "waiting", shown: "", problem: "" } });
  draw(
    <>
      <MessageList talk={talk} turns={talk.store.get().conversation!.turns} chosen={null} onWhy={() => {}} />
      <PendingExchange talk={talk} />
    </>,
  );
  expect(screen.getByText("b1")).toBeInTheDocument();
  expect(screen.queryByText("a2")).toBeNull();
  expect(screen.getByText("a3")).toBeInTheDocument();
  expect(screen.getByRole("status", { name: "allears is thinking" })).toBeInTheDocument();
});

test("the question for consent waits for the first answer, is never asked in a crisis, and only once", async () => {
  const asked = serve((call) => json(call.method === "PUT" ? { agreed: true, asked: true } : {}));
  session.change({ about, consent: { agreed: false, asked: false } });
  const talk = opened();
  draw(<ConsentCard talk={talk} />);
  const question = () => screen.queryByRole("heading", { name: "May I remember you?" });
  expect(question()).toBeNull();
  act(() =>
    talk.store.change({
      conversation: { ...conversation(ID, "a", "b"), safety: { phase: "danger", danger: "suicide" } },
    }),
  );
  expect(question()).toBeNull();
  act(() => talk.store.change({ conversation: conversation(ID, "a", "b") }));
  expect(question()).not.toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Yes, remember me" }));
  expect(asked[0]).toMatchObject({ method: "PUT", path: "/api/consent", body: { agreed: true } });
  expect(question()).toBeNull();
});

test("the quiet line tells the truth about where words go", () => {
  expect(whereWordsGo(about, "default")).toBe("Nothing leaves this machine.");
  expect(whereWordsGo({ ...about, local: false }, "default")).toContain("nowhere else");
  const [voice] = about.voices;
  const remote = { ...about, voices: [{ ...voice!, leaves_machine: true }] };
  expect(whereWordsGo(remote, "default")).toBe("This voice sends your words to another machine.");
});
