"""`horae certificate …`: what became of every fire of a tenant's day, signed. It opens PostgreSQL as the owner."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from horae.boot.archive import archive_target_of
from horae.boot.output import Exit, answer, out, say
from horae.boot.session import caller, load
from horae.boot.tables import print_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.certificates.certificates import CertifiedDay
from horae.domain.certificates.results import DayCounts
from horae.domain.errors import Conflict
from horae.service.certificates import bundles, certificates, signing_keys
from horae.service.certificates.certificates import Certificate
from horae.upkeep.anchors import read


class MakeByDefault(TyperGroup):
    """`horae certificate --day …` is short for `horae certificate make --day …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the word in where the first argument is an option of it."""
        if args and args[0].startswith(("--day", "--tenant", "--again")):
            args = ["make", *args]
        return super().parse_args(ctx, args)


app = Verbs(no_args_is_help=True, cls=MakeByDefault)
DayOf = Annotated[datetime, typer.Option("--day", help="The day in UTC, such as 2026-11-17.", formats=["%Y-%m-%d"])]
OfTenant = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]


@app.command()
async def make(
    day: DayOf,
    tenant: OfTenant = None,
    again: Annotated[bool, typer.Option("--again", help="Make the next revision, although there is one.")] = False,
) -> None:
    """Make the certificate of a day that is over, or show the stored one. Exits with 1 if it has findings."""
    async with caller(tenant, owner=True) as ctx:
        key, target = await signing_keys.current(ctx), archive_target_of(load())
        made = await certificates.make(ctx, key, day.date(), again=again, archive=target)
    _show(made)


@app.command()
async def export(
    day: DayOf,
    file: Annotated[Path, typer.Option("--out", help="The ZIP file to write; it must not exist.")],
    tenant: OfTenant = None,
    anchors: Annotated[
        Path | None, typer.Option("--anchors", help="The file of anchors; HORAE_AUDIT_ANCHORS where omitted.")
    ] = None,
) -> None:
    """Write the bundle that a third party verifies: certificate, evidence, hash chain and public key."""
    if file.exists():
        raise Conflict(f"{file} exists already")
    known = anchors or load().audit_anchors
    async with caller(tenant, owner=True) as ctx:
        keys = [one.key for one in await signing_keys.listing(ctx)]
        bundle = await bundles.export(ctx, keys, day.date(), read(known) if known is not None else [])
    file.write_bytes(bundle)
    said = f"{file} has the certificate of {day.date()}; docs/verify_certificate.py verifies it"
    say({"file": str(file), "bytes": len(bundle)}, said)


@app.command("list")
async def list_(
    since: Annotated[datetime, typer.Option("--since", help="The first day in UTC.", formats=["%Y-%m-%d"])],
    until: Annotated[datetime, typer.Option("--until", help="The day after the last one.", formats=["%Y-%m-%d"])],
    tenant: OfTenant = None,
) -> None:
    """List the certified days of a range, at most 366, with their totals. Days without a certificate are named, too."""
    async with caller(tenant, owner=True) as ctx:
        found = await certificates.listing(ctx, since.date(), until.date())
    certified = {one.day: one for one in found.days}
    days = [since.date() + timedelta(days=number) for number in range((until - since).days)]
    rows = [_row(day, certified.get(day), found.newest) for day in days]
    columns = ("day", "outcome", "expected", "on time", "late", "dead", "missing", "findings", "revision")
    facts = {"newest": found.newest, "days": [one._asdict() for one in found.days]}
    answer(facts, lambda: print_rows(columns, rows, empty="no days"))


def _row(day: date, one: CertifiedDay | None, newest: date) -> tuple[object, ...]:
    if one is None:
        return (day, "not yet" if day > newest else "not certified", *[""] * 7)
    total, outcome = one.total, "faults" if one.findings else "clean"
    numbers = (total.expected, total.on_time, total.late, total.dead, total.missing)
    return (day, outcome, *numbers, one.findings, one.revision)


def _show(made: Certificate) -> None:
    content, stored = made.content, made.stored
    facts = {"digest": stored.digest.hex(), "signature": stored.signature.hex(), "certificate": content}
    answer(facts, lambda: _print(made))
    if content.findings:
        raise typer.Exit(Exit.REFUSED)


def _print(made: Certificate) -> None:
    content, stored = made.content, made.stored
    title = f"{content.tenant} on {content.day} (UTC), revision {content.revision}, made {moment(stored.made_at)}"
    print_rows(("fires", "number"), [*_numbers(content.total)], empty="no fire was expected", title=title)
    for one in content.findings:
        out.print(f"{one.fault} {one.job} {moment(one.at)}: {one.said}", highlight=False, soft_wrap=True)
    out.print(f"digest {stored.digest.hex()}, signed by {stored.key_id}", highlight=False, soft_wrap=True)


def _numbers(counts: DayCounts) -> Iterator[tuple[str, int]]:
    for name in DayCounts.__struct_fields__:
        if name != "skipped":
            yield name.replace("_", " "), getattr(counts, name)
    for reason, number in counts.skipped.items():
        yield f"skipped: {reason}", number
