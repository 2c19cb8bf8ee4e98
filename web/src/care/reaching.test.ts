import { isNumber, numberToCall, phoneLink } from "./reaching";
import { spokenPart } from "./spokenPart";

test.each([
  ["call 116 123", "116 123"],
  ["call or text 988", "988"],
  ["call 1-800-799-7233, or text START to 88788", "1-800-799-7233"],
  ["call +49 800 1110111", "+49 800 1110111"],
  ["text SHOUT to 85258", null],
  ["see findahelpline.com, which lists free lines by country", null],
])("in “%s” the number to call is %s", (reach, number) => {
  expect(numberToCall(reach)).toBe(number);
});

test("a phone gets digits only", () => {
  expect(phoneLink("1-800 799 7233")).toBe("tel:18007997233");
  expect(phoneLink("+49 (0) 800")).toBe("tel:+490800");
});

test("only a number can be pressed", () => {
  expect(isNumber("999")).toBe(true);
  expect(isNumber("your local emergency number (112 or 911 works in many countries)")).toBe(false);
});

test("the list of lines is cut off a crisis text, and only there", () => {
  expect(spokenPart("I'm glad you told me.\n\nIn Ireland:\n- A line: call 1 (any time)\n- Another: call 2")).toBe(
    "I'm glad you told me.",
  );
  expect(spokenPart("Are you safe?\n\nYes or no is enough.")).toBe("Are you safe?\n\nYes or no is enough.");
});
