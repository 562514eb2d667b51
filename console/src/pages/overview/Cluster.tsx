import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getNodes, getShards } from "../../api/generated/client";
import type { NodeView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { duration } from "../../parts/times";
import { type ShardRun, shardRunsOf } from "./shard-runs";

const NODES_REFRESH_MS = 10_000;
const SHARDS_REFRESH_MS = 60_000;
const MAX_SHARDS = 4096;

/** Cells, nodes, and the node that leases each shard. Platform users see it. */
export function Cluster() {
  const { t } = useTranslation("overview");
  const nodes = useQuery({
    queryKey: ["nodes"],
    queryFn: ({ signal }) => getNodes({ signal }),
    refetchInterval: NODES_REFRESH_MS,
  });
  const shards = useQuery({
    queryKey: ["shards"],
    queryFn: ({ signal }) => getShards({ limit: MAX_SHARDS }, { signal }),
    refetchInterval: SHARDS_REFRESH_MS,
  });
  const down = nodes.data?.cells_down ?? [];
  return (
    <Card title={t("cluster.title")} id="cluster">
      {[nodes, shards].map(
        (query, index) =>
          query.error && (
            <ErrorMessage
              key={index === 0 ? "nodes" : "shards"}
              error={query.error}
              onRetry={query.refetch}
            />
          ),
      )}
      {down.length > 0 && <p className="banner tone-bad">{t("cluster.down", { cells: down.join(", ") })}</p>}
      {[...shardRunsOf(shards.data ?? [])].map(([cell, runs]) => (
        <CellShards key={cell} name={cell} runs={runs} />
      ))}
      {nodes.data && <NodeTable nodes={nodes.data.nodes} />}
    </Card>
  );
}

function CellShards({ name, runs }: { name: string; runs: ShardRun[] }) {
  const { t } = useTranslation("overview");
  const all = runs.reduce((sum, run) => sum + run.count, 0);
  const free = runs.filter((run) => !run.held).reduce((sum, run) => sum + run.count, 0);
  const nodes = [...new Set(runs.map((run) => run.node))];
  const label = t("cluster.cell", { cell: name, shards: all, held: all - free, free });
  return (
    <div className="cell">
      <p className="summary">{label}</p>
      <div className="shards" role="img" aria-label={label}>
        {runs.map((run) => (
          <span
            key={run.first}
            className={run.held ? `run node-${nodes.indexOf(run.node) % 4}` : "run free"}
            style={{ flexGrow: run.count }}
            title={t(run.held ? "cluster.run" : "cluster.unassigned", { ...run, node: run.node ?? "–" })}
          />
        ))}
      </div>
    </div>
  );
}

function NodeTable({ nodes }: { nodes: NodeView[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<NodeView>[] = [
    { title: t("cluster.node"), show: (one) => <NodeName node={one} /> },
    { title: t("cluster.cellName"), kind: "tight", show: (one) => one.cell },
    { title: t("cluster.status"), kind: "tight", show: (one) => <NodeStatus node={one} /> },
    { title: t("cluster.shards"), kind: "number", show: (one) => one.shards.toLocaleString() },
    { title: t("cluster.seen"), kind: "number", show: (one) => duration(one.seen_seconds_ago * 1_000) },
  ];
  return (
    <DataTable
      caption={t("cluster.nodes")}
      columns={columns}
      items={nodes}
      id={(one) => `${one.cell} ${one.id}`}
      empty={<EmptyState title={t("cluster.none")} help={t("cluster.emptyHelp")} line="horae node" />}
    />
  );
}

/** The name of a node is that of its machine; only the id tells two nodes of one machine apart. */
function NodeName({ node }: { node: NodeView }) {
  return (
    <>
      {node.name} <code className="soft">{node.id}</code>
    </>
  );
}

function NodeStatus({ node }: { node: NodeView }) {
  const { t } = useTranslation("overview");
  const status = !node.alive ? "gone" : node.draining ? "draining" : "alive";
  const tone = { gone: "idle", draining: "warn", alive: "good" }[status];
  return <span className={`state tone-${tone}`}>{t(`cluster.${status}`)}</span>;
}
