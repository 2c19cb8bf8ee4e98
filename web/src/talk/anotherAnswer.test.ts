// @vitest-environment jsdom
import { json, serve } from "../testing/server";
import { wishForAnother } from "./anotherAnswer";

const answers = (...texts: (string | null)[]) => json({ message: "", columns: texts.map((text) => ({ text })) });
const why = { seed: 0, strategy: "Question", strategies: [["Question", 0.6], ["Information", 0.4]] as [string, number][] };

test("the first draw that differs is taken", async () => {
  serve(() => answers("same", "other", "kind"));
  expect(await wishForAnother("c", "same", why)).toEqual({ seed: 2 });
});

test("where the best answer wins every draw, another kind is asked for", async () => {
  const asked = serve(() => answers("same", "same", "kind"));
  expect(await wishForAnother("c", "same", why)).toEqual({ strategy: "Information", seed: 0 });
  expect(asked[0]!.body).toEqual({
    text: null,
    conversation: "c",
    columns: [{ seed: 1 }, { seed: 2 }, { strategy: "Information", seed: 0 }],
  });
});

test("if nothing else is there, there is nothing to ask for", async () => {
  serve(() => answers("same", null, "same"));
  expect(await wishForAnother("c", "same", why)).toBeNull();
});
