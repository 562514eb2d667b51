import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CellsDown } from "./CellsDown";
import { Pager } from "./Pager";
import { type Column, Rows } from "./Rows";
import { Trouble } from "./Trouble";
import "./desk.css";

/** A page of a list that was asked for: its rows, what went wrong, and the way to the next. */
export function Found<Item>({ asked, caption, columns, id, empty, cursor, go }: FoundProps<Item>) {
  const stale = asked.data !== undefined;
  return (
    <>
      {asked.error && <Trouble error={asked.error} onAgain={() => void asked.refetch()} />}
      <CellsDown cells={asked.data?.cells_down} />
      {(stale || !asked.error) && (
        <Rows caption={caption} columns={columns} items={asked.data?.items} id={id} empty={empty} />
      )}
      <Pager cursor={cursor} next={asked.data?.next} go={go} />
    </>
  );
}

interface FoundProps<Item> {
  asked: UseQueryResult<{ items: Item[]; next?: string | null; cells_down?: string[] }, Error>;
  caption: string;
  columns: Column<Item>[];
  id: (item: Item) => string;
  empty?: ReactNode;
  cursor: string | undefined;
  go: (cursor?: string) => void;
}
