import { expect, test, vi } from "vitest";
import { call } from "./call";

test("an address whose name a browser would take for a folder is not sent", async () => {
  for (const name of ["..", ".", "%2e%2E"])
    await expect(call(`/api/v1/tenants/${name}/keys`), name).rejects.toThrow("cannot be a part");
});

test("a value that was read is sent back with the same integers, also beyond 53 bits", async () => {
  const text = '{"order_id":1783295187664392193,"few":7}';
  const fetched = vi.fn(async (_url: string, _options: RequestInit) => new Response(text));
  vi.stubGlobal("fetch", fetched);
  const read = await call("/api/v1/jobs/x");
  await call("/api/v1/jobs/x", { method: "PUT", body: JSON.stringify(read) });
  expect(fetched.mock.calls[1]?.[1].body).toBe(text);
});
