import { useTranslation } from "react-i18next";
import type { AlertMessageView } from "../../api/generated/models";
import { DataTable } from "../../parts/DataTable";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";

/** The messages of an alert, newest first, each with its delivery to one channel. */
export function Messages({ messages }: { messages: AlertMessageView[] }) {
  const { t } = useTranslation("alerts");
  const sorted = [...messages].sort((a, b) => b.sequence - a.sequence || a.channel.localeCompare(b.channel));
  return (
    <DataTable<AlertMessageView>
      caption={t("messages.title")}
      items={sorted}
      id={(message) => `${message.sequence} ${message.channel}`}
      columns={[
        { title: t("columns.message"), show: (message) => <StatusText message={message} /> },
        { title: t("columns.channel"), show: (message) => message.channel },
        {
          title: t("columns.delivery"),
          kind: "tight",
          show: (message) => <StateTag state={message.state} />,
        },
        {
          title: t("columns.sentAt"),
          kind: "tight",
          show: (message) => (message.sent_at ? <Timestamp at={message.sent_at} /> : "–"),
        },
        { title: t("columns.attempts"), kind: "number", show: (message) => message.attempts },
        {
          title: t("columns.error"),
          show: (message) => message.error && <span className="toned tone-bad">{message.error}</span>,
        },
        {
          title: t("columns.nextTry"),
          kind: "tight",
          show: (message) =>
            message.state === "PENDING" && message.next_try_at ? <Timestamp at={message.next_try_at} /> : "–",
        },
      ]}
      empty={<p className="soft">{t("messages.none")}</p>}
    />
  );
}

/** The content of a message: firing or resolved. The title has its id. */
function StatusText({ message }: { message: AlertMessageView }) {
  const { t } = useTranslation("alerts");
  const status = message.status === "resolved" || message.status === "test" ? message.status : "firing";
  return (
    <span title={message.id}>
      {message.sequence}. {t(`status.${status}`)}
    </span>
  );
}
