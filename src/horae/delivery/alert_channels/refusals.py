"""Why a message was not sent: try it again later (`Unavailable`), or a person must change the channel first."""

from horae.domain.errors import Invalid


class ChannelRefused(Invalid):
    """The channel cannot take any message as it is: sending again does not help before a person changes it."""
