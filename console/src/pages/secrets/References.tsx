import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { getAlertChannels, getJobs, getSources, getSubscriptions } from "../../api/generated/client";
import { useIsPermitted } from "../../app/permissions";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { namesSecret } from "./secret-names";

/** Names that refer to a secret, and whether there may be more than were read. */
interface Found {
  names: string[];
  isCut: boolean;
}

/** Everything that refers to a secret by its name, of each kind the first page. */
export function References({ secret }: { secret: string }) {
  const { t } = useTranslation("secrets");
  return (
    <ul className="references">
      <Kind
        title={t("uses.jobs")}
        action="jobs.list"
        secret={secret}
        read={async (signal) => {
          const page = await getJobs({ secret, limit: MAX_PAGE_SIZE }, { signal });
          return { names: page.items.map((job) => job.name), isCut: Boolean(page.next) };
        }}
        show={(job) => (
          <Link to="/jobs/$job" params={{ job }}>
            {job}
          </Link>
        )}
      />
      <Kind
        title={t("uses.subscriptions")}
        action="subscriptions.list"
        secret={secret}
        read={async (signal) => {
          const page = await getSubscriptions({ limit: MAX_PAGE_SIZE }, { signal });
          const found = page.items.filter((one) => namesSecret(one.sink, secret));
          return { names: found.map((one) => one.name), isCut: Boolean(page.next) };
        }}
        show={(name) => <Link to="/events">{name}</Link>}
      />
      <Kind
        title={t("uses.channels")}
        action="alert_channels.list"
        secret={secret}
        read={async (signal) => {
          const page = await getAlertChannels({ limit: MAX_PAGE_SIZE }, { signal });
          const found = page.items.filter((one) => namesSecret(one.channel, secret));
          return { names: found.map((one) => one.name), isCut: Boolean(page.next) };
        }}
        show={(name) => <Link to="/alerts/channels">{name}</Link>}
      />
      <Kind
        title={t("uses.sources")}
        action="sources.list"
        secret={secret}
        read={async (signal) => {
          const page = await getSources({ limit: MAX_PAGE_SIZE }, { signal });
          const found = page.items.filter((one) => namesSecret(one.spec, secret));
          return { names: found.map((one) => one.type), isCut: Boolean(page.next) };
        }}
        show={(type) => (
          <Link to="/sources/$type" params={{ type }}>
            {type}
          </Link>
        )}
      />
    </ul>
  );
}

interface KindProps {
  title: string;
  action: string;
  secret: string;
  read: (signal: AbortSignal) => Promise<Found>;
  show: (name: string) => ReactNode;
}

function Kind({ title, action, secret, read, show }: KindProps) {
  const { t } = useTranslation("secrets");
  const isPermitted = useIsPermitted(action);
  const query = useQuery({
    queryKey: ["secrets", "references", action, secret],
    queryFn: ({ signal }) => read(signal),
    enabled: isPermitted,
  });
  return (
    <li>
      {title}:{" "}
      {!isPermitted ? (
        <span className="soft">{t("uses.hidden")}</span>
      ) : query.error ? (
        <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data === undefined ? (
        <Loading />
      ) : (
        <>
          {query.data.names.map((name) => (
            <span key={name} className="reference">
              {show(name)}
            </span>
          ))}
          {query.data.names.length === 0 && <span className="soft">{t("uses.none")}</span>}
          {query.data.isCut && <span className="soft">{t("uses.more")}</span>}
        </>
      )}
    </li>
  );
}
