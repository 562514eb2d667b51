"""The settings of a deployment: from the environment, secret files and one TOML file.

`settings.py` holds all of them, made of one group for each subject; `layers.py` reads where they come from;
`reading.py` turns what is wrong into one line. The page docs/settings.md is written from the docstrings of the groups.
"""

from horae.runtime.settings.api import Algorithm, OidcSettings
from horae.runtime.settings.calls import LAPTOP, BrokerSettings, EgressSettings
from horae.runtime.settings.database import CellSettings
from horae.runtime.settings.encryption import TransitSettings
from horae.runtime.settings.mail import SmtpSettings
from horae.runtime.settings.reading import read_settings
from horae.runtime.settings.settings import Settings

__all__ = [
    "LAPTOP",
    "Algorithm",
    "BrokerSettings",
    "CellSettings",
    "EgressSettings",
    "OidcSettings",
    "Settings",
    "SmtpSettings",
    "TransitSettings",
    "read_settings",
]
