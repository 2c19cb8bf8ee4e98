// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Notices } from "../shared/Notices";
import { keepDraft } from "../state/drafts";
import { Talk } from "../state/talk";
import { draw } from "../testing/draw";
import { Composer } from "./Composer";

const box = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Your message" });

function drawn(talk = new Talk(null)) {
  const say = vi.spyOn(talk, "say").mockResolvedValue();
  draw(
    <>
      <Composer talk={talk} />
      <Notices />
    </>,
  );
  return say;
}

test("Enter sends, Shift-Enter makes a new line", async () => {
  const say = drawn();
  await userEvent.type(box(), "one{Shift>}{Enter}{/Shift}two{Enter}");
  expect(say).toHaveBeenCalledExactlyOnceWith("one\ntwo");
  expect(box()).toHaveValue("");
});

test("nothing, and nothing but blanks, cannot be sent", async () => {
  const say = drawn();
  await userEvent.type(box(), "   {Enter}");
  expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
  expect(say).not.toHaveBeenCalled();
});

test("Enter that only ends a word of an input method does not send", () => {
  const say = drawn();
  fireEvent.change(box(), { target: { value: "にほん" } });
  fireEvent.keyDown(box(), { key: "Enter", isComposing: true });
  expect(say).not.toHaveBeenCalled();
});

test("a megabyte is not pasted, and the reason is said", () => {
  drawn();
  const wasTaken = fireEvent.paste(box(), { clipboardData: { getData: () => "x".repeat(2 ** 20) } });
  expect(wasTaken).toBe(false);
  expect(screen.getByRole("status")).toHaveTextContent("What you pasted has 1,048,576 characters");
});

test("too much is counted and cannot be sent", () => {
  const say = drawn();
  fireEvent.change(box(), { target: { value: "x".repeat(8001) } });
  fireEvent.keyDown(box(), { key: "Enter" });
  expect(screen.getByText(/1 character too many/)).toBeInTheDocument();
  expect(box()).toBeInvalid();
  expect(say).not.toHaveBeenCalled();
});

test("a draft is there again, and words that were taken back return", () => {
  keepDraft("new", "half a thought");
  const talk = new Talk(null);
  drawn(talk);
  expect(box()).toHaveValue("half a thought");
});

test("while an answer is on its way, the button stops it, and so does Escape", async () => {
  const talk = new Talk(null);
  talk.store.change({ pending: { key: "k", text: "hi", phase: "waiting", shown: "", problem: "" } });
  const stop = vi.spyOn(talk, "stop").mockResolvedValue();
  drawn(talk);
  await userEvent.click(screen.getByRole("button", { name: /^Stop/ }));
  await userEvent.type(box(), "{Escape}");
  expect(stop).toHaveBeenCalledTimes(2);
});
