"""The verbs, for programs on an event loop. Made from `horae_client.sync` by `tools/twins`, but for `verbs`."""
