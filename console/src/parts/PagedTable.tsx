import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CellsDown } from "./CellsDown";
import { type Column, DataTable } from "./DataTable";
import { ErrorMessage } from "./ErrorMessage";
import { type ArchiveRead, FromArchive } from "./FromArchive";
import { Pager } from "./Pager";
import "./fields.css";

/** One page of a list: its rows, the error of its query, and the pager. */
export function PagedTable<Item>({
  query,
  caption,
  columns,
  id,
  empty,
  cursor,
  onCursor,
}: PagedTableProps<Item>) {
  const stale = query.data !== undefined;
  return (
    <>
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      <CellsDown cells={query.data?.cells_down} />
      {(stale || !query.error) && (
        <DataTable caption={caption} columns={columns} items={query.data?.items} id={id} empty={empty} />
      )}
      <FromArchive read={query.data?.archive} />
      <Pager cursor={cursor} next={query.data?.next} onCursor={onCursor} />
    </>
  );
}

interface PagedTableProps<Item> {
  query: UseQueryResult<
    { items: Item[]; next?: string | null; cells_down?: string[]; archive?: ArchiveRead | null },
    Error
  >;
  caption: string;
  columns: Column<Item>[];
  id: (item: Item) => string;
  empty?: ReactNode;
  cursor: string | undefined;
  onCursor: (cursor?: string) => void;
}
