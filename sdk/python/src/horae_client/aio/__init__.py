"""The methods of the async client. `tools/twins` generates all but `verbs` from `horae_client.sync`."""
