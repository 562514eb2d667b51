"""Every request of the API as a plain function that returns a value; nothing here touches the network."""
