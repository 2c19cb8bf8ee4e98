import { eventsIn } from "./events";

function bodyOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      chunks.forEach((chunk) => controller.enqueue(chunk));
      controller.close();
    },
  });
}

async function read(...chunks: Uint8Array[]) {
  const found = [];
  for await (const event of eventsIn(bodyOf(...chunks))) found.push(event);
  return found;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("events are found wherever the network cuts them, even inside a letter", async () => {
  const whole = bytes('event: piece\ndata: {"text":"Grüße 🌱"}\n\nevent: reply\ndata: {"turn":2}\n\n');
  for (let cut = 1; cut < whole.length; cut++)
    expect(await read(whole.slice(0, cut), whole.slice(cut))).toEqual([
      { name: "piece", data: '{"text":"Grüße 🌱"}' },
      { name: "reply", data: '{"turn":2}' },
    ]);
});

test("an event that was not finished is not told", async () => {
  expect(await read(bytes("event: piece\ndata: 1\n"))).toEqual([]);
});

test("comments and other line ends are understood", async () => {
  expect(await read(bytes(": still here\r\n\r\nevent: a\r\ndata: x\r\ndata: y\r\n\r\n"))).toEqual([{ name: "a", data: "x\ny" }]);
});
