import { Link } from "@tanstack/react-router";

/** Labels, each of which leads to the jobs that have it, too. */
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
