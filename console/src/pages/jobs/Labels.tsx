import { Link } from "@tanstack/react-router";

/** Labels, each with a link to the jobs that have it. */
export function Labels({ labels }: { labels: Record<string, string> }) {
  return (
    <span className="labels">
      {Object.entries(labels).map(([key, value]) => (
        <Link key={key} to="/jobs" search={{ label: `${key}=${value}` }} className="label">
          {key}={value}
        </Link>
      ))}
    </span>
  );
}
