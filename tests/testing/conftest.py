from horae.testing.plugin import horae, horae_databases

__all__ = ["horae", "horae_databases"]
