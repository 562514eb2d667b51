"""The lines of protective measures."""

from typing import Annotated, ClassVar

from pydantic import Field

from horae.runtime.settings.facts import NODE, SettingsGroup, Unit


class MeasureSettings(SettingsGroup):
    """When protective measures come into force. [Protective measures](measures.md) explains them."""

    READ_BY: ClassVar[tuple[str, ...]] = (NODE,)

    measures: bool = True
    """Whether signals bring measures into force. A person can always do it.

    Change it where another system decides what is slowed down.
    """
    measure_trigger_delay_p95_ms: Annotated[float, Unit("ms")] = Field(default=2000, gt=0)
    """The 95th percentile of trigger delays, in milliseconds, above which low priority is limited, then paused.

    Change it to the delay that your critical jobs bear.
    """
    measure_run_success_rate_10m: Annotated[float, Unit("part of 1")] = Field(default=0.995, gt=0, lt=1)
    """The part of runs that succeed within ten minutes below which retries are slowed and backfills refused.

    Change it where more failures than one in 200 are normal.
    """
    measure_retry_backlog: Annotated[int, Unit("instances")] = Field(default=200_000, gt=0)
    """The number of instances that wait for a retry above which long work waits behind short work.

    Change it to what your nodes retry in some minutes.
    """
    measure_dlq_growth_per_min: Annotated[int, Unit("dead letters/min")] = Field(default=1000, gt=0)
    """The number of new dead letters in a minute above which only critical work is started.

    Change it in proportion to your fires.
    """
    measure_peak_load: Annotated[float, Unit("part of 1")] = Field(default=0.8, gt=0, le=1)
    """The part of the usable slots in use above which every second low-priority fire is skipped.

    Change it where nodes are added by themselves before that.
    """
