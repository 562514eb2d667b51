import { useTranslation } from "react-i18next";
import { type State, toneOf } from "./tones";
import "./parts.css";

/** A state by colour and by word; the word that the API uses stands in the title. */
export function StateTag({ state }: { state: State }) {
  const { t } = useTranslation("states");
  return (
    <span className={`state tone-${toneOf(state)}`} title={state}>
      {t(state)}
    </span>
  );
}
