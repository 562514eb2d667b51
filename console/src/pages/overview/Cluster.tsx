import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getNodes, getShards } from "../../api/generated/client";
import type { NodeView } from "../../api/generated/models";
import { Empty } from "../../parts/Empty";
import { Card } from "../../parts/Page";
import { type Column, Rows } from "../../parts/Rows";
import { Trouble } from "../../parts/Trouble";
import { duration } from "../../parts/times";
import { type Run, runs } from "./runs";

const TEN_SECONDS = 10_000;
const MINUTE = 60_000;
const ALL = 4096;

/** Cells, their nodes, and who holds which shards. Only the platform's own people see it. */
export function Cluster() {
  const { t } = useTranslation("overview");
  const nodes = useQuery({
    queryKey: ["nodes"],
    queryFn: ({ signal }) => getNodes({ signal }),
    refetchInterval: TEN_SECONDS,
  });
  const shards = useQuery({
    queryKey: ["shards"],
    queryFn: ({ signal }) => getShards({ limit: ALL }, { signal }),
    refetchInterval: MINUTE,
  });
  const down = nodes.data?.cells_down ?? [];
  return (
    <Card title={t("cluster.title")}>
      {[nodes, shards].map(
        (asked, index) =>
          asked.error && (
            <Trouble key={index === 0 ? "nodes" : "shards"} error={asked.error} onAgain={asked.refetch} />
          ),
      )}
      {down.length > 0 && <p className="banner tone-bad">{t("cluster.down", { cells: down.join(", ") })}</p>}
      {[...runs(shards.data ?? [])].map(([cell, held]) => (
        <Cell key={cell} name={cell} held={held} />
      ))}
      {nodes.data && <Nodes told={nodes.data.nodes} />}
    </Card>
  );
}

function Cell({ name, held }: { name: string; held: Run[] }) {
  const { t } = useTranslation("overview");
  const all = held.reduce((sum, run) => sum + run.count, 0);
  const free = held.filter((run) => !run.held).reduce((sum, run) => sum + run.count, 0);
  const names = [...new Set(held.map((run) => run.node))];
  const label = t("cluster.cell", { cell: name, shards: all, held: all - free, free });
  return (
    <div className="cell">
      <p className="told">{label}</p>
      <div className="shards" role="img" aria-label={label}>
        {held.map((run) => (
          <span
            key={run.first}
            className={run.held ? `run hand-${names.indexOf(run.node) % 4}` : "run free"}
            style={{ flexGrow: run.count }}
            title={t(run.held ? "cluster.run" : "cluster.nobody", { ...run, node: run.node ?? "–" })}
          />
        ))}
      </div>
    </div>
  );
}

function Nodes({ told }: { told: NodeView[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<NodeView>[] = [
    { title: t("cluster.node"), show: (one) => one.name },
    { title: t("cluster.cellName"), kind: "tight", show: (one) => one.cell },
    { title: t("cluster.standing"), kind: "tight", show: (one) => <Standing node={one} /> },
    { title: t("cluster.shards"), kind: "number", show: (one) => one.shards.toLocaleString() },
    { title: t("cluster.seen"), kind: "number", show: (one) => duration(one.seen_seconds_ago * 1_000) },
  ];
  return (
    <Rows
      caption={t("cluster.nodes")}
      columns={columns}
      items={told}
      id={(one) => `${one.cell} ${one.id}`}
      empty={<Empty title={t("cluster.none")} help={t("cluster.teach")} line="horae node" />}
    />
  );
}

function Standing({ node }: { node: NodeView }) {
  const { t } = useTranslation("overview");
  const word = !node.alive ? "gone" : node.draining ? "draining" : "alive";
  const tone = { gone: "idle", draining: "warn", alive: "good" }[word];
  return <span className={`state tone-${tone}`}>{t(`cluster.${word}`)}</span>;
}
