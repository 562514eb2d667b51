import { expect, test } from "vitest";
import { call } from "./call";

test("an address whose name a browser would take for a folder is not sent", async () => {
  for (const name of ["..", ".", "%2e%2E"])
    await expect(call(`/api/v1/tenants/${name}/keys`), name).rejects.toThrow("cannot be a part");
});
