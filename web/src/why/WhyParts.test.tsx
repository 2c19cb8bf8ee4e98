// @vitest-environment jsdom
import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { session } from "../state/session";
import { Talk } from "../state/talk";
import { draw } from "../testing/draw";
import { about, conversation, why } from "../testing/madeUp";
import { CandidatesSection, scaleOf } from "./CandidatesSection";
import { EmotionChart } from "./EmotionChart";
import { feelingSentence } from "./FeelingSection";
import { Highlighted } from "./Highlighted";
import { StrategySection } from "./StrategySection";
import { WhyNotes } from "./WhyNotes";

const row = (turn: number, ...shares: number[]) => ({
  turn,
  kind: "reply",
  shares,
  strategy: "",
  danger: null,
  voice: "",
  milliseconds: 0,
});

test("the chart also tells its numbers to those who do not see it", () => {
  const reasons = { conversation: "a", emotions: ["sad", "proud"], replies: [row(2, 0.5, 0.1), row(4, 0.2, 0.7)] };
  draw(<EmotionChart reasons={reasons} turn={4} onChoose={() => {}} />);
  expect(screen.getByRole("img")).toHaveAccessibleName(/proud 70% in the last answer, sad 20%/);
  const [, first] = within(screen.getByRole("table")).getAllByRole("row");
  expect(first).toHaveTextContent("2 10% 50%".replaceAll(" ", ""));
});

test("with one reply there is no chart yet, and a sentence says so", () => {
  draw(
    <EmotionChart
      reasons={{ conversation: "a", emotions: ["sad"], replies: [row(2, 0.5)] }}
      turn={2}
      onChoose={() => {}}
    />,
  );
  expect(screen.getByText(/With the next answer/)).toBeInTheDocument();
});

test("the feeling is a sentence, also where little was read", () => {
  expect(feelingSentence(why.emotions!)).toBe("Mostly lonely (60%), with sad (25%) and hopeful (15%).");
  expect(feelingSentence([["sad", 0.9]])).toBe("Mostly sad (90%).");
  expect(feelingSentence([])).toBe("No feeling was read for this answer.");
});

test("another strategy can be asked for, of the last answer only", async () => {
  session.change({ about });
  const talk = new Talk("00000000000000aa");
  talk.store.change({ phase: "ready", conversation: conversation("00000000000000aa", "a", "b") });
  const again = vi.spyOn(talk, "answerAgain").mockResolvedValue();
  const reasons = { ...why, strategies: [["Information", 0.5], ["Question", 0.5]] as [string, number][] };
  const { unmount } = draw(<StrategySection talk={talk} why={reasons} isLast />);
  await userEvent.click(screen.getByRole("button", { name: "Answer this way: Information" }));
  expect(again).toHaveBeenCalledWith({ strategy: "Information" });
  unmount();
  draw(<StrategySection talk={talk} why={reasons} isLast={false} />);
  expect(screen.queryByRole("button", { name: "Answer this way: Information" })).toBeNull();
  expect(screen.getByText(/can be asked for the last answer/)).toBeInTheDocument();
});

test("reasons that were stored long ago and know little still show", () => {
  localStorage.setItem("allears.fold.candidates", "true");
  draw(
    <>
      <WhyNotes why={{}} />
      <CandidatesSection why={{}} />
    </>,
  );
  expect(screen.getByText("There were no other candidates.")).toBeInTheDocument();
});

test("scores below zero are bars, too", () => {
  const of = (adjusted: number) => ({ proposal: {} as never, score: 0, adjusted, notes: [] });
  const scale = scaleOf([of(1), of(-1)]);
  expect([scale(1), scale(0), scale(-1)]).toEqual([1, 0.55, 0.1]);
});

test("markup in a text is text", () => {
  draw(<Highlighted text="<b>x</b>" words={[{ start: 0, end: 8, weight: 1 }]} weights={() => 1} />);
  expect(screen.getByText("<b>x</b>")).toBeInTheDocument();
});

test("a crisis, a wish and trouble are told", () => {
  draw(
    <>
      <WhyNotes why={{ kind: "crisis" }} />
      <WhyNotes why={{ wished: "Question", strategy: "Information" }} />
      <WhyNotes why={{ trouble: "the endpoint is dead" }} />
    </>,
  );
  expect(screen.getByText(/This was a fixed text/)).toBeInTheDocument();
  expect(screen.getByText(/You asked for “Question”/)).toBeInTheDocument();
  expect(screen.getByText(/the endpoint is dead/)).toBeInTheDocument();
});
