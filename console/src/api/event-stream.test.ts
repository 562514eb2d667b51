import { expect, test } from "vitest";
import { readEvents, splitEvents } from "./event-stream";

const LINE = 'id: 1.4\nevent: line\ndata: {"text":"a: b"}\n\n';

test("an event has its id, name and data; comments are ignored", () => {
  const { events, rest } = splitEvents(`: alive\n\n${LINE}`);
  expect(events).toEqual([{ id: "1.4", name: "line", data: '{"text":"a: b"}' }]);
  expect(rest).toBe("");
});

test("an event that is not complete yet is kept for the next part", () => {
  expect(splitEvents(`${LINE}id: 1.5\nevent: li`)).toMatchObject({ rest: "id: 1.5\nevent: li" });
});

test("a stream that is cut anywhere has the same events", async () => {
  const bytes = new TextEncoder().encode(`${LINE}event: end\ndata: {"state":"完成"}\n\n`);
  for (const cut of [1, 3, 20, bytes.length - 7]) {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.slice(0, cut));
        controller.enqueue(bytes.slice(cut));
        controller.close();
      },
    });
    const found = [];
    for await (const events of readEvents(new Response(body))) found.push(...events);
    expect(found.map((event) => event.name)).toEqual(["line", "end"]);
    expect(found[1]?.data).toContain("完成");
  }
});
