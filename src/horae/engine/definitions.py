"""The engine's name for the memory of job versions. It lives in `store`, because claims by workers lean on it too."""

from horae.store.definitions import Definitions

__all__ = ["Definitions"]
