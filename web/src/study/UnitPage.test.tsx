// @vitest-environment jsdom
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { draw } from "../testing/draw";
import { readDraft } from "./kept";
import type { Block, Unit } from "./types";
import { UnitPage } from "./UnitPage";
import { Visit } from "./visit";

const scale = (side: "A" | "B" | null): Block => ({
  type: "likert",
  key: side ? `empathy.${side}` : "empathy",
  text: "Does it understand?",
  points: 7,
  anchors: { "1": "no", "7": "yes" },
  side,
  required: true,
});

function show(blocks: Block[], visit = new Visit()) {
  const unit: Unit = { key: "k1", least_seconds: 0, blocks };
  draw(<UnitPage visit={visit} unit={unit} progress={{ done: 2, of: null }} />);
  return visit;
}

test("a scale about two replies names the one it is about", () => {
  show([scale("A"), scale("B")]);
  expect(screen.getByRole("group", { name: /Reply A\s*Does it understand/ })).toBeInTheDocument();
  expect(screen.getByRole("group", { name: /Reply B\s*Does it understand/ })).toBeInTheDocument();
  expect(screen.getAllByRole("radio", { name: "7: yes" })).toHaveLength(2);
});

test("answers are kept in the browser until they are sent, and sent as numbers", async () => {
  const visit = show([scale(null)]);
  const answer = vi.spyOn(visit, "answer").mockResolvedValue(true);
  const submit = screen.getByRole("button", { name: "Send and go on" });
  expect(submit).toBeDisabled();
  await userEvent.click(screen.getByRole("radio", { name: "5" }));
  expect(readDraft("k1").answers).toEqual({ empathy: 5 });
  await vi.waitFor(() => expect(submit).toBeEnabled());
  await userEvent.click(submit);
  expect(answer).toHaveBeenCalledWith("k1", { empathy: 5 });
});

test("texts are shown as they are, and a single reply has no letter", () => {
  show([{ type: "replies", title: "The reply", replies: [{ side: "A", text: "<b>Oh</b> & no" }] }]);
  expect(screen.getByText("<b>Oh</b> & no")).toBeInTheDocument();
  expect(screen.queryByText("Reply A")).toBeNull();
  expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Task 3");
});
