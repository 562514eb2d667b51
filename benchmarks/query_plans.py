"""The generic plan of a statement with literal arguments, as an owner's connection runs it, and what it touched."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from horae.store.cells import SESSION, use_json
from horae.store.statements import sql


async def connect(dsn: str) -> "asyncpg.Connection[asyncpg.Record]":
    """A connection with the session settings of the store."""
    connection = await asyncpg.connect(dsn, server_settings={**SESSION, "statement_timeout": "600s"})
    await use_json(connection)
    return connection


def literal(value: Any) -> str:
    """A value as SQL text."""
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return str(value)
        case datetime() | UUID() | str():
            return f"'{value}'"
        case list() | tuple() | range():
            return "'{" + ",".join(f'"{item}"' for item in value) + "}'"
        case _:
            raise TypeError(type(value))


async def explain(
    connection: "asyncpg.Connection[asyncpg.Record]", name: str, args: list[Any], *, run: bool = True
) -> dict[str, Any]:
    """The plan as JSON; with `run` it was executed and rolled back, and tells rows and buffers."""
    await connection.execute(f"prepare measured as {sql(name)}")
    options = "analyze, buffers, timing off, format json" if run else "format json"
    transaction = connection.transaction()
    await transaction.start()
    try:
        given = f"({', '.join(map(literal, args))})" if args else ""
        text = await connection.fetchval(f"explain ({options}) execute measured{given}")
    finally:
        await transaction.rollback()
        await connection.execute("deallocate measured")
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return plan


def buffers(plan: dict[str, Any]) -> int:
    """Shared buffers a plan touched, hits and reads."""
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """All nodes of a plan."""
    return [plan, *(node for child in plan.get("Plans", []) for node in nodes(child))]


def indexes(plan: dict[str, Any]) -> dict[str, str]:
    """Which index each table is read by; a table read otherwise says how."""
    found = {}
    for node in nodes(plan):
        if "Relation Name" in node and node["Node Type"] != "ModifyTable":
            found[node.get("Alias", node["Relation Name"])] = node.get("Index Name", node["Node Type"])
    return found


def rows_returned(plan: dict[str, Any]) -> int:
    """How many rows the statement gave back."""
    return int(plan["Actual Rows"])
