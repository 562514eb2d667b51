import { useTranslation } from "react-i18next";
import type { ComingFire } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { dateTime, markedTime, myZone, offset, weekday } from "../../parts/times";
import { SkipReason } from "./SkipReason";

/** The next fires in the time zone of the job and in the reader's; one column if they are the same. */
export function Fires({ fires, zone }: { fires: ComingFire[]; zone: string | undefined }) {
  const { t, i18n } = useTranslation("jobs");
  const mine = myZone();
  const timeIn = (place: string) => (fire: ComingFire) => (
    <time dateTime={fire.fire_time}>
      {weekday(fire.fire_time, i18n.language, place)} {dateTime(fire.fire_time, place)}{" "}
      <span className="soft">{offset(fire.fire_time, place)}</span>
    </time>
  );
  const columns: Column<ComingFire>[] = [
    { title: t("fires.mine", { zone: mine }), kind: "tight", show: timeIn(mine) },
  ];
  if (fires.some(isChanged))
    columns.push({ title: t("fires.what"), show: (fire) => <FireResult fire={fire} /> });
  if (zone && zone !== mine)
    columns.unshift({ title: t("fires.theirs", { zone }), kind: "tight", show: timeIn(zone) });
  return (
    <DataTable caption={t("fires.title")} columns={columns} items={fires} id={(fire) => fire.fire_time} />
  );
}

/** Whether a fire is skipped or moved. */
const isChanged = (fire: ComingFire) =>
  Boolean(fire.skipped) || Boolean(fire.due_at && fire.due_at !== fire.fire_time);

function FireResult({ fire }: { fire: ComingFire }) {
  const { t } = useTranslation("jobs");
  if (fire.skipped) return <SkipReason reason={fire.skipped} />;
  if (fire.due_at && fire.due_at !== fire.fire_time)
    return <>{t("fires.moved", { at: markedTime(fire.due_at) })}</>;
  return <>{t("fires.happens")}</>;
}
