"""Every request of the API as a plain function that returns a value. Nothing here uses the network."""
