import { useTranslation } from "react-i18next";
import type { ComingFire } from "../../api/generated/models";
import { type Column, Rows } from "../../parts/Rows";
import { dateTime, myZone, offset, weekday } from "../../parts/times";
import { Skipped } from "./Skipped";

/** Coming fires in the job's zone and in the reader's; one column where they are the same. */
export function Fires({ fires, zone }: { fires: ComingFire[]; zone: string | undefined }) {
  const { t, i18n } = useTranslation("jobs");
  const mine = myZone();
  const reading = (place: string) => (fire: ComingFire) => (
    <time dateTime={fire.fire_time}>
      {weekday(fire.fire_time, i18n.language, place)} {dateTime(fire.fire_time, place)}{" "}
      <span className="soft">{offset(fire.fire_time, place)}</span>
    </time>
  );
  const columns: Column<ComingFire>[] = [
    { title: t("fires.mine", { zone: mine }), kind: "tight", show: reading(mine) },
  ];
  if (fires.some(odd)) columns.push({ title: t("fires.what"), show: (fire) => <What fire={fire} /> });
  if (zone && zone !== mine)
    columns.unshift({ title: t("fires.theirs", { zone }), kind: "tight", show: reading(zone) });
  return <Rows caption={t("fires.title")} columns={columns} items={fires} id={(fire) => fire.fire_time} />;
}

/** Whether a fire is anything but what the schedule says. */
const odd = (fire: ComingFire) =>
  Boolean(fire.skipped) || Boolean(fire.due_at && fire.due_at !== fire.fire_time);

function What({ fire }: { fire: ComingFire }) {
  const { t } = useTranslation("jobs");
  if (fire.skipped) return <Skipped reason={fire.skipped} />;
  if (fire.due_at && fire.due_at !== fire.fire_time)
    return <>{t("fires.moved", { at: dateTime(fire.due_at) })}</>;
  return <>{t("fires.happens")}</>;
}
