"""Recovery from incidents with real nodes: what is lost, what waits, and how soon critical work fires again."""
