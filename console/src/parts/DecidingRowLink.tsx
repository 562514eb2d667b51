import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { DecidingRowView } from "../api/generated/models";

/** A deciding row: a link where the console has a page for it, else its name. */
export function DecidingRowLink({ row, onOpen }: { row: DecidingRowView; onOpen: () => void }) {
  const { t } = useTranslation("frame");
  const text = t(`why.row.${row.kind}`, { ref: row.ref });
  const [first = "", ...rest] = row.ref.split(row.kind === "version" ? "@" : "/");
  switch (row.kind) {
    case "job":
      return (
        <Link to="/jobs/$job" params={{ job: row.ref }} onClick={onOpen}>
          {text}
        </Link>
      );
    case "version":
      return (
        <Link to="/jobs/$job" params={{ job: first }} search={{ view: "versions" }} onClick={onOpen}>
          {text}
        </Link>
      );
    case "subject":
      return (
        <Link to="/jobs/$job" params={{ job: first }} search={{ view: "subjects" }} onClick={onOpen}>
          {text}
        </Link>
      );
    case "instance":
      return (
        <Link to="/instances/$instance" params={{ instance: row.ref }} onClick={onOpen}>
          {text}
        </Link>
      );
    case "calendar":
      return (
        <Link to="/calendars/$calendar" params={{ calendar: row.ref }} onClick={onOpen}>
          {text}
        </Link>
      );
    case "task":
      return (
        <Link to="/tasks/$type/$key" params={{ type: first, key: rest.join("/") }} onClick={onOpen}>
          {text}
        </Link>
      );
    case "dead_letter":
      return (
        <Link to="/dead-letters" onClick={onOpen}>
          {text}
        </Link>
      );
    default:
      return <span className="soft">{text}</span>;
  }
}
