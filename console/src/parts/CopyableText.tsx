import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import "./parts.css";

/** A command or a request with a button that copies it. */
export function CopyableText({ text }: { text: string }) {
  const { t } = useTranslation("frame");
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 2_000);
  };
  return (
    <div className="line">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <Button size="small" onClick={copy}>
        {done ? t("copy.done") : t("copy.label")}
      </Button>
    </div>
  );
}
