/** One server-sent event: its id, its name and its data. */
export interface StreamEvent {
  id: string | null;
  name: string;
  data: string;
}

/** Splits text into events. The last part, which is not complete yet, is returned as `rest`. */
export function splitEvents(text: string): { events: StreamEvent[]; rest: string } {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  return { events: blocks.flatMap((block) => parseEvent(block) ?? []), rest };
}

function parseEvent(block: string): StreamEvent | null {
  const event: StreamEvent = { id: null, name: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue; // a comment
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "id") event.id = value;
    if (field === "event") event.name = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { ...event, data: data.join("\n") };
}

/** Yields the events of a response as they arrive, those of one part together. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { events, rest } = splitEvents(text + value);
    text = rest;
    if (events.length > 0) yield events;
  }
}
