import { defineConfig } from "orval";

// One function for each route, named by its path: GET /jobs/{job}/instances is getJobInstances.
function named(_: unknown, route: string, verb: string): string {
  const parts = route
    .replaceAll("$", "")
    .replace(/^\/api\/v1/, "")
    .split("/")
    .filter(Boolean);
  const words = parts.flatMap((part, index) => {
    if (index === 0 && (part === "tenant" || part === "session")) return ["own", part]; // the caller's, beside tenants/{tenant}
    if (part.startsWith("{")) return [part.slice(1, -1)];
    const next = parts[index + 1]; // jobs/{job} is one word, tasks/{type} are two
    return next?.startsWith("{") && part.startsWith(next.slice(1, -1)) ? [] : part.split(/[-_.]/);
  });
  return verb + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
}

export default defineConfig({
  horae: {
    input: "./openapi.json",
    output: {
      target: "./src/api/generated/client.ts",
      schemas: "./src/api/generated/models",
      client: "fetch",
      mode: "single",
      clean: true,
      urlEncodeParameters: true, // names of jobs and keys may be anything
      override: {
        operationName: named,
        mutator: { path: "./src/api/call.ts", name: "call" },
        fetch: { includeHttpResponseReturnType: false },
      },
    },
  },
});
