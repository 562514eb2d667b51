import { afterEach, expect, test } from "vitest";
import { dateTime, fromZonedInput, markedTime, toZonedInput } from "./times";
import { displayZone, myZone, setTenantZone, setZoneChoice } from "./zone";

const AT = "2026-03-29T00:30:00Z";

afterEach(() => setZoneChoice("mine"));

test("a switch decides the zone of every time", () => {
  expect(displayZone("Asia/Tokyo")).toBe(myZone());
  setZoneChoice("utc");
  expect(markedTime(AT)).toBe("2026-03-29 00:30:00 UTC");
  setZoneChoice("tenant");
  setTenantZone("Asia/Shanghai");
  expect(markedTime(AT)).toBe("2026-03-29 08:30:00 +08:00");
  setZoneChoice("job");
  expect(displayZone("Asia/Tokyo")).toBe("Asia/Tokyo");
  expect(displayZone()).toBe(myZone());
});

test("what a field shows is read back as the same instant, also when the clocks change", () => {
  for (const zone of ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"])
    for (const at of [AT, "2026-03-29T01:30:00.000Z", "2026-10-25T01:30:00.000Z"])
      expect(fromZonedInput(toZonedInput(at, zone), zone)).toBe(new Date(at).toISOString());
});

test("a time that the clocks jump over becomes a time that exists", () => {
  const at = fromZonedInput("2026-03-29T02:30:00", "Europe/Berlin");
  expect(dateTime(at, "Europe/Berlin")).toMatch(/2026-03-29 0[13]:30:00/);
});
