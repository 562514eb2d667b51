"""How long rows are kept, and where old ones go."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from horae.runtime.settings.facts import (
    API,
    COMMANDS,
    NODE,
    Days,
    ReadBy,
    SecretText,
    SecretUrl,
    SettingsGroup,
)


class RetentionSettings(SettingsGroup):
    """How long rows are kept, the archive, and the audit log. All nodes of a deployment have the same values."""

    READ_BY: ClassVar[tuple[str, ...]] = (NODE,)

    history_days: Days = Field(default=14, ge=3, le=90)
    """How long ended instances and events are kept in PostgreSQL.

    Change it where people look back further, or where the disk is small ([retention](retention.md)).
    """
    history_held_days: Days = Field(default=7, ge=0, le=90)
    """How much longer a day is kept that a subscription has not read.

    Change it to what the repair of a sink may take.
    """
    log_days: Days = Field(default=3, ge=1, le=90)
    """How long the log lines of attempts are kept. They are not archived.

    Change it where people read them later, or where tenants log much ([logs](logs.md)).
    """
    dead_letter_days: Days = Field(default=90, ge=1)
    """How long dead letters are kept.

    Change it where they are replayed later than that, or must be forgotten sooner.
    """
    ended_job_days: Days = Field(default=90, ge=1)
    """How long completed and removed jobs are kept, and never shorter than their history.

    Change it where many short-lived jobs fill the table.
    """
    archive: Annotated[str | None, ReadBy((NODE, API, COMMANDS))] = None
    """Where days go before they are dropped: `s3://bucket/prefix` or `file:///folder`. It needs
    `pip install 'horae[archive]'`, and all processes must reach the same one.

    Change it when history must be kept longer than PostgreSQL should hold it ([archive](archive.md)).
    """
    archive_days: Days = Field(default=90, ge=1)
    """How long an archived day is kept.

    Change it to the term that your rules ask for.
    """
    archive_endpoint: Annotated[str | None, ReadBy((NODE, API, COMMANDS))] = None
    """The address of an S3 server other than that of AWS; `http://` only to the own machine, or outside production.

    Change it for MinIO, Ceph and other servers.
    """
    archive_region: Annotated[str, ReadBy((NODE, API, COMMANDS))] = "us-east-1"
    """The region of the bucket.

    Change it to where the bucket is.
    """
    archive_key_id: Annotated[str, ReadBy((NODE, API, COMMANDS))] = ""
    """The id of an access key; without one, the credentials of the machine are used (instance role, `AWS_…`).

    Change it where the machine has no role of its own.
    """
    archive_secret: Annotated[SecretText, ReadBy((NODE, API, COMMANDS))] = ""
    """The secret of that access key.

    Change it when the access key is rotated.
    """
    audit_days: Annotated[Days, ReadBy((NODE, COMMANDS))] = Field(default=180, ge=1)
    """How long blocks of the audit log are kept.

    Change it to the term that your rules ask for ([audit](audit.md)).
    """
    audit_anchors: Annotated[Path | None, ReadBy((NODE, COMMANDS))] = None
    """A file that nodes append the heads of the audit chains to.

    Change it to a place where administrators of the database cannot write.
    """
    audit_anchor_url: SecretUrl | None = Field(default=None, repr=False)
    """A webhook that receives the heads of the audit chains.

    Change it where an outside service keeps them.
    """
    audit_anchor_secret: SecretText = ""
    """A secret `whsec_…` that signs those heads as Standard Webhooks are signed.

    Change it where the outside service verifies signatures.
    """
