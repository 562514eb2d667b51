import { useTranslation } from "react-i18next";
import { type State, toneOf } from "./tones";
import "./parts.css";

/** A state by colour and text; the title has the name that the API uses. */
export function StateTag({ state }: { state: State }) {
  const { t } = useTranslation("states");
  return (
    <span className={`state tone-${toneOf(state)}`} title={state}>
      {t(state)}
    </span>
  );
}
