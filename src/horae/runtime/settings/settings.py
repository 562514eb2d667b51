"""All settings of a process, made of the groups beside this module."""

from typing import Final, Self

from pydantic import model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from horae.runtime.settings.api import ApiSettings
from horae.runtime.settings.calls import LAPTOP, CallSettings, EgressSettings
from horae.runtime.settings.database import CellSettings, DatabaseSettings, NodeSettings
from horae.runtime.settings.encryption import EncryptionSettings
from horae.runtime.settings.facts import SettingsGroup
from horae.runtime.settings.layers import LayeredSource
from horae.runtime.settings.mail import MailSettings
from horae.runtime.settings.measures import MeasureSettings
from horae.runtime.settings.monitoring import MonitoringSettings
from horae.runtime.settings.places import PREFIX
from horae.runtime.settings.retention import RetentionSettings

GROUPS: Final[tuple[type[SettingsGroup], ...]] = (
    DatabaseSettings,
    EncryptionSettings,
    CallSettings,
    NodeSettings,
    MeasureSettings,
    ApiSettings,
    RetentionSettings,
    MonitoringSettings,
    MailSettings,
)
"""The groups in the order in which people meet them."""


class Settings(
    DatabaseSettings,
    EncryptionSettings,
    CallSettings,
    NodeSettings,
    MeasureSettings,
    ApiSettings,
    RetentionSettings,
    MonitoringSettings,
    MailSettings,
    BaseSettings,
):
    """All settings of a process. What is not given is read from the environment, secret files and the settings file."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="ignore",
        hide_input_in_errors=True,
        defer_build=False,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Given values come first; then what `layers.py` reads."""
        return init_settings, LayeredSource(settings_cls)

    @model_validator(mode="after")
    def _leases_stay_on(self) -> Self:
        if not self.leases and self.environment == "production":
            raise ValueError("leases can only be switched off in test and dev: every node would do all the work")
        return self

    def logs_json(self) -> bool:
        """Whether logs are JSON: what `HORAE_LOG_JSON` says, else everywhere but in `dev`."""
        return self.environment != "dev" if self.log_json is None else self.log_json

    def all_egress(self) -> EgressSettings:
        """`HORAE_EGRESS`. By default only the public Internet over TLS; in test and dev also private networks."""
        return self.egress or (EgressSettings() if self.environment == "production" else LAPTOP)

    def api_server_cells(self) -> list[CellSettings]:
        """The cells for API processes: `HORAE_API_CELLS` or `HORAE_API_DSN`, with the role `horae_api`.

        If neither is set, the cells of `all_cells`.
        """
        return self.api_cells_given() or self.all_cells()

    def api_cells_given(self) -> list[CellSettings]:
        """The cells of `HORAE_API_CELLS` or `HORAE_API_DSN`; empty if neither is set."""
        if self.api_cells or self.api_dsn is None:
            return self.api_cells
        return [CellSettings(name="cell-0", dsn=self.api_dsn)]
