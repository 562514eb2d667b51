import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CellsDown } from "./CellsDown";
import { type Column, DataTable } from "./DataTable";
import { ErrorMessage } from "./ErrorMessage";
import { type ArchiveRead, FromArchive } from "./FromArchive";
import { useChosenColumns, visibleColumns } from "./list/chosen-columns";
import type { ReadPage } from "./list/export";
import { ListTools } from "./list/ListTools";
import type { Selection } from "./list/Selection";
import type { Sorting } from "./list/sorting";
import { Pager } from "./Pager";
import "./fields.css";

/**
 * One page of a list: its rows, the error of its query, and the pager. With the name of its `list` it has the choice of
 * columns and saved views, and with `read`, which reads any page of it, the export.
 */
export function PagedTable<Item>({
  query,
  caption,
  columns,
  id,
  empty,
  cursor,
  onCursor,
  list,
  read,
  selection,
  sorting,
}: PagedTableProps<Item>) {
  const stale = query.data !== undefined;
  const [chosen, choose] = useChosenColumns(list ?? "");
  return (
    <>
      {list && <ListTools list={list} columns={columns} chosen={chosen} onChoose={choose} read={read} />}
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      <CellsDown cells={query.data?.cells_down} />
      {(stale || !query.error) && (
        <DataTable
          caption={caption}
          columns={list ? visibleColumns(columns, chosen) : columns}
          items={query.data?.items}
          id={id}
          empty={empty}
          selection={selection}
          sorting={sorting}
        />
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
  list?: string;
  read?: ReadPage;
  selection?: Selection<Item>;
  sorting?: Sorting;
}
