import { expect, test } from "vitest";
import { filtersOf, newestDay, readDay } from "./certificates";

const DAY = "since=2030-03-30T00%3A00%3A00Z&until=2030-03-31T00%3A00%3A00Z";
const RANGE = { since: "2030-03-30T00:00:00.000Z", until: "2030-03-31T00:00:00.000Z" };

test("a number of the whole tenant leads to its instances by fire time", () => {
  const found = filtersOf(`/api/v1/instances?state=INIT&state=RUNNING&${DAY}&order=fire_time`);
  expect(found).toMatchObject({ ...RANGE, state: ["INIT", "RUNNING"], order: "fire_time" });
  expect(found.job).toBeUndefined();
});

test("a number of one job leads to the instances of that job", () => {
  const job = "job_01hv3zq5k8e9r7t2m4n6p8s0v1";
  expect(filtersOf(`/api/v1/jobs/${job}/instances?state=DEAD&${DAY}`)).toMatchObject({
    ...RANGE,
    job,
    state: ["DEAD"],
  });
});

test("the newest day that can be certified is yesterday in UTC", () => {
  expect(newestDay(new Date("2030-03-01T00:30:00Z"))).toBe("2030-02-28");
});

test("a day in the address that is none is ignored", () => {
  expect(readDay({ day: "2030-03-30" })).toEqual({ day: "2030-03-30" });
  expect(readDay({ day: "yesterday" })).toEqual({ day: undefined });
});
