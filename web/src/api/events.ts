/** Server-sent events out of a response's body. (`EventSource` can neither POST nor send a token.) */
export interface ServerEvent {
  name: string;
  data: string;
}

export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let unread = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    unread += value;
    for (;;) {
      const end = unread.search(/\r?\n\r?\n/);
      if (end < 0) break;
      const event = parsed(unread.slice(0, end));
      unread = unread.slice(end).replace(/^\r?\n\r?\n/, "");
      if (event) yield event;
    }
  }
}

function parsed(block: string): ServerEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: data.join("\n") } : null;
}
