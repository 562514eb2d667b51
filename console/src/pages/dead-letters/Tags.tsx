import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { DeadLetterView } from "../../api/generated/models";
import { TRANSIENT_TAG } from "./filters";
import "./dead-letters.css";

/** The tags of a dead letter: that of its error, and those that people added. Each shows the list of its kind. */
export function Tags({ one }: { one: DeadLetterView }) {
  const { t } = useTranslation("deadLetters");
  const tags = [...(one.tag ? [one.tag] : []), ...(one.tags ?? [])];
  return (
    <span className="tags">
      {tags.map((tag) => (
        <Link key={tag} to="/dead-letters" search={{ tag }} className="tag">
          {tag === TRANSIENT_TAG ? t("transient") : tag}
        </Link>
      ))}
    </span>
  );
}
