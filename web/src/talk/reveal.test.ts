import { Reveal } from "./reveal";

test("pieces are shown one after the other, and all of them", async () => {
  vi.useFakeTimers();
  const shown: string[] = [];
  const reveal = new Reveal((text) => shown.push(text), false);
  ["That ", "is ", "hard."].forEach((piece) => reveal.add(piece));
  const done = reveal.finish();
  await vi.runAllTimersAsync();
  await done;
  expect(shown).toEqual(["That ", "That is ", "That is hard."]);
});

test("a long reply does not take longer than its patience", async () => {
  vi.useFakeTimers();
  const reveal = new Reveal(() => {}, false);
  for (let word = 0; word < 1000; word++) reveal.add("word ");
  let over = false;
  void reveal.finish().then(() => (over = true));
  await vi.advanceTimersByTimeAsync(2600); // timers round up to whole milliseconds
  expect(over).toBe(true);
});

test("who likes stillness sees the whole reply at once", async () => {
  const shown: string[] = [];
  const reveal = new Reveal((text) => shown.push(text), true);
  ["One ", "two."].forEach((piece) => reveal.add(piece));
  await reveal.finish();
  expect(shown).toEqual(["One two."]);
});

test("after the end nothing more is shown", async () => {
  const shown: string[] = [];
  const reveal = new Reveal((text) => {
    shown.push(text);
    reveal.end();
  }, false);
  ["a ", "b ", "c"].forEach((piece) => reveal.add(piece));
  await reveal.finish();
  expect(shown).toEqual(["a "]);
});
