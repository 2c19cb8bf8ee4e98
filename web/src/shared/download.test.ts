import { fileName } from "./download";

test("a title becomes a file name that every system takes", () => {
  expect(fileName("My sister / is: moving?", "md")).toBe("my-sister-is-moving.md");
  expect(fileName("../../etc/passwd", "json")).toBe("etc-passwd.json");
  expect(fileName("🌧️", "md")).toBe("conversation.md");
  expect(fileName("أختي", "md")).toBe("أختي.md");
});
