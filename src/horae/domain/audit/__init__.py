"""The audit log: how rows form a hash chain, and the anchors of its heads."""
